#include "kernels/cpu/number_formats.hpp"

#include <cmath>
#include <cstring>

#include "runtime/base/assert.hpp"

namespace troupe::cpu {
namespace {

std::uint16_t load16(const std::byte* bytes) {
  std::uint16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void dequantize_q8_0(const std::byte* block, float* out) {
  const float scale = half_to_float(load16(block));
  for (std::size_t i = 0; i < kQuantBlock; ++i) {
    out[i] = scale * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
  }
}

void dequantize_nibbles(const std::byte* nibbles, float scale, float minimum, float* out) {
  for (std::size_t i = 0; i < kQuantBlock / 2; ++i) {
    const auto byte = std::to_integer<unsigned>(nibbles[i]);
    out[i] = scale * static_cast<float>(byte & 15u) + minimum;
    out[i + 16] = scale * static_cast<float>(byte >> 4) + minimum;
  }
}

void dequantize_block(WeightType type, const std::byte* block, float* out) {
  const float scale = half_to_float(load16(block));
  switch (type) {
    case WeightType::kQ8_0:
      return dequantize_q8_0(block, out);
    case WeightType::kQ4_0:
      return dequantize_nibbles(block + 2, scale, -8.0f * scale, out);
    case WeightType::kQ4_1:
      return dequantize_nibbles(block + 4, scale, half_to_float(load16(block + 2)), out);
    default:
      TROUPE_ASSERT(false, "only quantized types have blocks");
  }
}

}  // namespace

std::string_view to_string(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return "F32";
    case WeightType::kF16:
      return "F16";
    case WeightType::kBF16:
      return "BF16";
    case WeightType::kQ8_0:
      return "Q8_0";
    case WeightType::kQ4_0:
      return "Q4_0";
    case WeightType::kQ4_1:
      return "Q4_1";
  }
  return "unknown";
}

float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 31u;
  const std::uint32_t mantissa = half & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24 is exact in fp32
    const float magnitude = static_cast<float>(mantissa) * 0x1.0p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const float magnitude = std::bit_cast<float>(bits & 0x7fffffffu);
  if (std::isnan(value)) return sign | 0x7e00u;
  if (magnitude >= 65520.0f) return sign | 0x7c00u;  // halfway from the largest half to 2^16
  if (magnitude < 0x1.0p-14f) {                      // subnormal: count units of 2^-24
    return sign | static_cast<std::uint16_t>(std::nearbyintf(magnitude * 0x1.0p24f));
  }
  const std::uint32_t rebased = (bits & 0x7fffffffu) - (112u << 23);
  const std::uint32_t rounded = rebased + 0xfffu + ((rebased >> 13) & 1u);
  return sign | static_cast<std::uint16_t>(rounded >> 13);
}

void dequantize_row(WeightType type, const std::byte* stored, std::span<float> out) {
  if (type == WeightType::kF32) {
    std::memcpy(out.data(), stored, out.size() * 4);
  } else if (type == WeightType::kF16) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = half_to_float(load16(stored + 2 * i));
  } else if (type == WeightType::kBF16) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bfloat_to_float(load16(stored + 2 * i));
  } else {
    const std::size_t block_bytes = stored_block_bytes(type);
    for (std::size_t i = 0; i < out.size() / kQuantBlock; ++i) {
      dequantize_block(type, stored + i * block_bytes, out.data() + i * kQuantBlock);
    }
  }
}

}  // namespace troupe::cpu
