// References in the order in which they were added, found and erased without a search.
//
// Why: whoever watches every request of a large cluster has ten thousands of them; to look through
// all of them at each end would cost more than everything else that the simulation does.
//
// A short list is searched; a long one has an index, and its gaps are closed when they are half of
// it. Invariants: (1) each reference is there at most once; (2) for_each sees them in the order of
// add(), whatever was erased between. Not thread-safe.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/actor/ref.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

class RefList {
 public:
  /// False: it is there already.
  bool add(const ActorRef& ref) {
    if (place_of(ref) != kNowhere) return false;
    items_.push_back(ref);
    if (index_ != nullptr) {
      index_->insert(ref, static_cast<std::uint32_t>(items_.size() - 1));
    } else if (items_.size() > kSearched) {
      build_index();
    }
    return true;
  }

  /// False: it is not there.
  bool erase(const ActorRef& ref) {
    const std::size_t at = place_of(ref);
    if (at == kNowhere) return false;
    if (index_ == nullptr) {
      items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
      return true;
    }
    index_->erase(ref);
    items_[at] = ActorRef{};
    if (++gaps_ * 2 > items_.size()) close_gaps();
    return true;
  }

  std::size_t size() const { return items_.size() - gaps_; }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const ActorRef& ref : items_) {
      if (ref) visit(ref);
    }
  }

  std::vector<ActorRef> all() const {
    std::vector<ActorRef> refs;
    refs.reserve(size());
    for_each([&](const ActorRef& ref) { refs.push_back(ref); });
    return refs;
  }

 private:
  static constexpr std::size_t kSearched = 16;
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  std::size_t place_of(const ActorRef& ref) const {
    if (index_ != nullptr) {
      const std::uint32_t* at = index_->find(ref);
      return at == nullptr ? kNowhere : *at;
    }
    const auto at = std::find(items_.begin(), items_.end(), ref);
    return at == items_.end() ? kNowhere : static_cast<std::size_t>(at - items_.begin());
  }
  void build_index() {
    index_ = std::make_unique<IdMap<ActorRef, std::uint32_t>>();
    for (std::uint32_t i = 0; i < items_.size(); ++i) index_->insert(items_[i], i);
  }
  void close_gaps() {
    std::erase(items_, ActorRef{});
    gaps_ = 0;
    index_.reset();
    if (items_.size() > kSearched) build_index();
  }

  std::vector<ActorRef> items_;  ///< nobody: a gap
  std::size_t gaps_ = 0;
  std::unique_ptr<IdMap<ActorRef, std::uint32_t>> index_;
};

}  // namespace troupe
