#include "runtime/kv/block_pool.hpp"

#include <algorithm>
#include <functional>

#include "runtime/base/assert.hpp"

namespace troupe {

BlockPool::BlockPool(std::uint32_t capacity) : held_(capacity, false) {
  free_.reserve(capacity);
  for (std::uint32_t i = 0; i < capacity; ++i) free_.emplace_back(i);
}

bool BlockPool::take(std::uint32_t count, std::vector<BlockId>& holder) {
  if (count > free_.size()) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::pop_heap(free_.begin(), free_.end(), std::greater<>{});
    const BlockId block = free_.back();
    free_.pop_back();
    TROUPE_ASSERT(!held_[block.value], "a free block is not held");
    held_[block.value] = true;
    holder.push_back(block);
  }
  return true;
}

void BlockPool::give_back(std::vector<BlockId>& holder) {
  for (const BlockId block : holder) {
    TROUPE_ASSERT(block.value < held_.size() && held_[block.value],
                  "only a held block is given back, and once");
    held_[block.value] = false;
    free_.push_back(block);
    std::push_heap(free_.begin(), free_.end(), std::greater<>{});
  }
  holder.clear();
}

}  // namespace troupe
