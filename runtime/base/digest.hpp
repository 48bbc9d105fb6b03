// A running 64-bit digest of values, for trace hashes: fast, order-sensitive, the same everywhere.
//
// Not for security and not for KV block hashes (those are keyed; DESIGN section 7).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/base/uint128.hpp"

namespace troupe {

class Digest {
 public:
  constexpr Digest() = default;
  constexpr explicit Digest(std::uint64_t seed) : state_(seed) {}

  constexpr void add(std::uint64_t word) {
    const auto product = static_cast<Uint128>(state_ ^ word) * kMultiplier;
    state_ = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^
             (word * kOdd);
  }

  void add_bytes(std::string_view bytes) {
    add(bytes.size());
    if (bytes.size() >= 2 * kLanes * 8) bytes.remove_prefix(add_wide(bytes));
    while (bytes.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
      bytes.remove_prefix(8);
    }
    if (bytes.empty()) return;  // it may be of nobody's memory
    std::uint64_t tail = 0;
    std::memcpy(&tail, bytes.data(), bytes.size());
    add(tail);
  }

  constexpr std::uint64_t value() const { return state_; }

 private:
  static constexpr std::size_t kLanes = 4;
  /// Lanes that do not wait for each other: one multiplication takes as long as four that overlap.
  /// Returns how many bytes it took.
  std::size_t add_wide(std::string_view bytes) {
    std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
    std::size_t at = 0;
    for (; at + kLanes * 8 <= bytes.size(); at += kLanes * 8) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        std::uint64_t word;
        std::memcpy(&word, bytes.data() + at + i * 8, 8);
        lanes[i] = std::rotl(lanes[i] ^ word * kOdd, 29) * kMultiplier;
      }
    }
    for (const std::uint64_t lane : lanes) add(lane);
    return at;
  }

  // Two odd constants with balanced bits: the golden ratio and the square root of 3, as fractions.
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ull;
  static constexpr std::uint64_t kOdd = 0xbb67ae8584caa73bull;
  std::uint64_t state_ = kOdd;
};

}  // namespace troupe
