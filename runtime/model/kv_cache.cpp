#include "runtime/model/kv_cache.hpp"

#include <algorithm>
#include <new>

#include "runtime/base/assert.hpp"

namespace troupe {

KvCache::KvCache(std::uint32_t block_count, const ModelConfig& config)
    : block_count_(block_count),
      layers_(config.layers),
      kv_heads_(config.kv_heads),
      head_dim_(config.head_dim),
      head_stride_(std::size_t{kBlockTokens} * config.head_dim),
      layer_stride_(2 * head_stride_ * config.kv_heads),
      block_stride_(layer_stride_ * config.layers) {
  TROUPE_ASSERT(block_count > 0, "a pool has blocks");
  // calloc checks the product, and large zeroed memory costs nothing until it is touched.
  memory_.reset(static_cast<float*>(std::calloc(block_count, block_stride_ * sizeof(float))));
  if (memory_ == nullptr) throw std::bad_alloc();
}

Bytes KvCache::block_size(const ModelConfig& config) {
  return Bytes(std::uint64_t{2} * kBlockTokens * config.layers * config.kv_size() * sizeof(float));
}

bool KvCache::fits(const ModelConfig& config) const {
  return layers_ == config.layers && kv_heads_ == config.kv_heads && head_dim_ == config.head_dim;
}

std::span<std::byte> KvCache::block_bytes(BlockId block) {
  TROUPE_ASSERT(block.value < block_count_, "a block of this pool");
  return std::as_writable_bytes(
      std::span(memory_.get() + block.value * block_stride_, block_stride_));
}

std::span<const std::byte> KvCache::block_bytes(BlockId block) const {
  TROUPE_ASSERT(block.value < block_count_, "a block of this pool");
  return std::as_bytes(std::span(memory_.get() + block.value * block_stride_, block_stride_));
}

void KvCache::store(std::uint32_t layer, BlockId block, std::uint32_t slot, const float* key,
                    const float* value) {
  TROUPE_ASSERT(block.value < block_count_ && layer < layers_ && slot < kBlockTokens,
                "forward() checks its rows");
  float* keys = memory_.get() + block.value * block_stride_ + layer * layer_stride_;
  float* values = keys + kv_heads_ * head_stride_;
  for (std::uint32_t head = 0; head < kv_heads_; ++head) {
    for (std::uint32_t d = 0; d < head_dim_; ++d) {
      keys[head * head_stride_ + d * kBlockTokens + slot] = key[head * head_dim_ + d];
    }
    std::copy_n(value + head * head_dim_, head_dim_,
                values + head * head_stride_ + slot * head_dim_);
  }
}

cpu::PagedHead KvCache::head(std::uint32_t layer, std::uint32_t kv_head,
                             std::span<const BlockId> blocks) const {
  TROUPE_ASSERT(layer < layers_ && kv_head < kv_heads_, "a head of this model");
  const float* keys = memory_.get() + layer * layer_stride_ + kv_head * head_stride_;
  return {.keys = keys,
          .values = keys + kv_heads_ * head_stride_,
          .block_stride = block_stride_,
          .blocks = blocks};
}

}  // namespace troupe
