// A list of plain values whose first few stand in the object itself.
//
// Why: most actors watch one or two others; a vector would cost a cache line elsewhere for each.
// Erasing moves the last item into the gap. Pointers are valid until the next change.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace troupe {

template <class T, std::size_t kInside>
class ShortList {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  void push_back(const T& item) {
    if (outside_ != nullptr) {
      outside_->push_back(item);
    } else if (size_ < kInside) {
      inside_[size_] = item;
    } else {
      // All move out, so that the items stay together; they come back when the list is empty.
      outside_ = std::make_unique<std::vector<T>>(inside_.begin(), inside_.end());
      outside_->push_back(item);
    }
    ++size_;
  }

  /// Requires: `at` points to an item.
  void erase_unordered(T* at) {
    *at = *(end() - 1);
    --size_;
    if (outside_ == nullptr) return;
    outside_->pop_back();
    if (size_ == 0) outside_.reset();
  }

  /// False: none is equal to it.
  bool erase(const T& item) {
    T* const at = std::find(begin(), end(), item);
    if (at == end()) return false;
    erase_unordered(at);
    return true;
  }
  void clear() {
    size_ = 0;
    outside_.reset();
  }

  T* begin() { return outside_ == nullptr ? inside_.data() : outside_->data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return outside_ == nullptr ? inside_.data() : outside_->data(); }
  const T* end() const { return begin() + size_; }
  std::size_t size() const { return size_; }

 private:
  std::uint32_t size_ = 0;
  std::array<T, kInside> inside_{};
  std::unique_ptr<std::vector<T>> outside_;
};

}  // namespace troupe
