// Begins to bring memory into the cache: for what is far away and will be wanted soon.
//
// The empty instruction is there because GCC takes a function that only prefetches for one without
// an effect, and drops the calls of it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Any address does.
inline void fetch_line(const void* address) {
  __builtin_prefetch(address);
  asm volatile("" : : "r"(address));
}

inline void fetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kLine = 64;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  for (std::uintptr_t line = first / kLine * kLine; line < first + bytes; line += kLine) {
    fetch_line(reinterpret_cast<const void*>(line));
  }
}

}  // namespace troupe
