// A running 64-bit digest of values, for trace hashes: fast, order-sensitive, the same everywhere.
//
// Not for security and not for KV block hashes (those are keyed; DESIGN section 7).
#pragma once

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
    while (bytes.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
      bytes.remove_prefix(8);
    }
    std::uint64_t tail = 0;
    std::memcpy(&tail, bytes.data(), bytes.size());
    if (!bytes.empty()) add(tail);
  }

  constexpr std::uint64_t value() const { return state_; }

 private:
  // Two odd constants with balanced bits: the golden ratio and the square root of 3, as fractions.
  static constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15ull;
  static constexpr std::uint64_t kOdd = 0xbb67ae8584caa73bull;
  std::uint64_t state_ = kOdd;
};

}  // namespace troupe
