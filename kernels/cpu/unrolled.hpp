// Loops with a constant count that must not exist at run time.
//
// Why: an array of vector accumulators stays in registers only if each index is a constant early in
// the compiler's work. Unrolling by the optimizer comes too late and leaves a store in the inner
// loop.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#define TROUPE_INLINE __attribute__((always_inline))

namespace troupe::cpu {

/// f(integral_constant<0>), ..., f(integral_constant<kCount - 1>), inlined.
template <std::size_t kCount, class F>
TROUPE_INLINE inline void unrolled(F&& f) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) TROUPE_INLINE {
    (f(std::integral_constant<std::size_t, kIndex>{}), ...);
  }
  (std::make_index_sequence<kCount>{});
}

}  // namespace troupe::cpu
