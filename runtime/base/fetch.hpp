// Begins to bring memory into the cache: for what is far away and will be wanted soon.
//
// The empty instruction is there because GCC takes a function that only prefetches for one without
// an effect, and drops the calls of it.
#pragma once

#include <cstddef>

namespace troupe {

/// Any address does.
inline void fetch_line(const void* address) {
  __builtin_prefetch(address);
  asm volatile("" : : "r"(address));
}

inline void fetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) {
    fetch_line(static_cast<const char*>(begin) + at);
  }
}

}  // namespace troupe
