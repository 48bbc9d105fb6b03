// Seeded random numbers: the same seed gives the same numbers on every machine and compiler.
//
// xoshiro256** (Blackman and Vigna, 2018) seeded through splitmix64. The standard library's
// distributions differ between implementations, so the few that cores need are here.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "runtime/base/assert.hpp"
#include "runtime/base/uint128.hpp"

namespace troupe {

/// One step of splitmix64: also a good 64-bit finalizer for hashing small keys.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Combines two 64-bit values, order matters.
constexpr std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  return splitmix64(a ^ (b * 0x9e3779b97f4a7c15ull + 0x632be59bd9b4e019ull));
}

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed = 0) {
    for (auto& word : state_) word = seed = splitmix64(seed);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound). Requires: bound > 0. Bias is below 2^-64 * bound.
  std::uint64_t below(std::uint64_t bound) {
    TROUPE_ASSERT(bound > 0, "below() needs a positive bound");
    return static_cast<std::uint64_t>((static_cast<Uint128>(next()) * bound) >> 64);
  }

  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Exponential with this mean: the gaps of a Poisson process.
  double exponential(double mean) { return -mean * std::log(1.0 - uniform()); }

  bool chance(double probability) { return uniform() < probability; }

 private:
  static constexpr std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace troupe
