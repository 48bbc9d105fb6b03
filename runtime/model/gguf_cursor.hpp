// Reads little-endian numbers and strings from bytes that nobody has checked yet.
//
// Every read is bounded by what is left; a failed one says which file, at which offset, and what
// was expected there. The position never passes the end.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

class GgufCursor {
 public:
  GgufCursor(std::string_view file, std::span<const std::byte> bytes)
      : file_(file), bytes_(bytes) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return bytes_.size() - offset_; }

  /// An error about the bytes at `offset`.
  Error corrupt(std::uint64_t offset, std::string_view what) const {
    return Error{Code::kCorrupt, std::string(file_) + ": at byte " + std::to_string(offset) + ": " +
                                     std::string(what)};
  }

  template <std::integral T>
  Result<T> number(std::string_view what) {
    TROUPE_TRY_ASSIGN(const auto raw, take(sizeof(T), what));
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  /// `count` bytes, without copying.
  Result<std::span<const std::byte>> take(std::uint64_t count, std::string_view what) {
    if (count > left()) {
      return corrupt(offset_, "the file ends inside " + std::string(what) + " (" +
                                  std::to_string(count) + " bytes needed, " +
                                  std::to_string(left()) + " left)");
    }
    const auto taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }

  /// A 64-bit length and that many characters.
  Result<std::string_view> string(std::uint64_t length_max, std::string_view what) {
    const std::uint64_t start = offset_;
    TROUPE_TRY_ASSIGN(const auto length, number<std::uint64_t>(what));
    if (length > length_max) {
      return corrupt(start, std::string(what) + " has " + std::to_string(length) +
                                " bytes, the limit is " + std::to_string(length_max));
    }
    TROUPE_TRY_ASSIGN(const auto raw, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(raw.data()), raw.size());
  }

 private:
  std::string_view file_;
  std::span<const std::byte> bytes_;
  std::uint64_t offset_ = 0;
};

}  // namespace troupe
