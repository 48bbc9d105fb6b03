// Memory of message payloads: freed blocks are kept, by size, for the next payload.
//
// Why: a simulated event costs 200 ns, and a general allocator's round trip is a quarter of that.
//
// Each thread keeps its own lists, so that there is nothing to lock; a payload that is freed on
// another thread than it was made on goes to that thread's list. A list keeps at most kKeepMax
// blocks, a size class is kStep bytes; greater payloads, and all under a sanitizer (which must see
// every use after free), go to the general allocator.
#pragma once

#include <cstddef>

namespace troupe {

class PayloadPool {
 public:
  static constexpr std::size_t kStep = 32;
  static constexpr std::size_t kLargest = 256;
  static constexpr std::size_t kKeepMax = 4'096;

  static void* take(std::size_t size);
  static void give(void* block, std::size_t size) noexcept;
};

}  // namespace troupe
