#include "kernels/cpu/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <cstdlib>
#include <string_view>

#include "kernels/cpu/avx2_kernels.hpp"

namespace troupe::cpu {

#if defined(__x86_64__)
namespace {

/// clang 14's __builtin_cpu_supports does not know F16C, so the processor is asked directly.
bool processor_has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace
#endif

const Kernels* avx2_kernels() {
#if defined(__x86_64__)
  static constexpr Kernels table{
      .name = "avx2",
      .expand_tile = avx2::expand_tile,
      .multiply_tile = avx2::multiply_tile,
      .gemm = avx2::gemm,
      .rms_norm = avx2::rms_norm,
      .rotate_pairs = avx2::rotate_pairs,
      .silu_multiply = avx2::silu_multiply,
      .exponentials = avx2::exponentials,
      .maximum = avx2::maximum,
      .add = avx2::add,
      .scale = avx2::scale,
  };
  static const bool supported = __builtin_cpu_supports("avx2") != 0 &&
                                __builtin_cpu_supports("fma") != 0 && processor_has_f16c();
  return supported ? &table : nullptr;
#else
  return nullptr;
#endif
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    const char* forced = std::getenv("TROUPE_KERNELS");
    const bool plain = forced != nullptr && std::string_view(forced) == "reference";
    return plain || avx2_kernels() == nullptr ? reference_kernels() : *avx2_kernels();
  }();
  return chosen;
}

std::span<const Kernels* const> all_kernels() {
  static const std::array<const Kernels*, 2> tables{&reference_kernels(), avx2_kernels()};
  return {tables.data(), avx2_kernels() == nullptr ? 1u : 2u};
}

}  // namespace troupe::cpu
