// Seeded inputs for kernel tests.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cpu/number_formats.hpp"
#include "runtime/base/rng.hpp"

namespace troupe::cpu::test {

inline constexpr WeightType kAllTypes[] = {WeightType::kF32,  WeightType::kF16,  WeightType::kBF16,
                                           WeightType::kQ8_0, WeightType::kQ4_0, WeightType::kQ4_1};

/// Uniform in [-magnitude, magnitude).
inline std::vector<float> random_floats(Rng& rng, std::size_t count, double magnitude = 1.0) {
  std::vector<float> values(count);
  for (auto& value : values) value = static_cast<float>((2 * rng.uniform() - 1) * magnitude);
  return values;
}

inline void put16(std::vector<std::byte>& bytes, std::uint16_t value) {
  bytes.push_back(static_cast<std::byte>(value & 255));
  bytes.push_back(static_cast<std::byte>(value >> 8));
}

/// Stored rows with weights of magnitude about 1, negative scales among them.
inline std::vector<std::byte> random_stored(Rng& rng, WeightType type, std::size_t count) {
  std::vector<std::byte> bytes;
  if (is_quantized(type)) {
    const float scale = type == WeightType::kQ8_0 ? 1.0f / 127 : 1.0f / 8;
    for (std::size_t block = 0; block < count / kQuantBlock; ++block) {
      const auto factor = static_cast<float>(2 * rng.uniform() - 1);
      put16(bytes, float_to_half(scale * factor));
      if (type == WeightType::kQ4_1) put16(bytes, float_to_half(static_cast<float>(rng.uniform())));
      const std::size_t end = (block + 1) * stored_block_bytes(type);
      while (bytes.size() < end) bytes.push_back(static_cast<std::byte>(rng.next()));
    }
    return bytes;
  }
  for (const float value : random_floats(rng, count)) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (type == WeightType::kF16) {
      put16(bytes, float_to_half(value));
    } else {
      if (type == WeightType::kF32) put16(bytes, static_cast<std::uint16_t>(bits));
      put16(bytes, static_cast<std::uint16_t>(bits >> 16));
    }
  }
  return bytes;
}

}  // namespace troupe::cpu::test
