// The keys and values of all sequences of one rank, in blocks of 128 tokens.
//
// Why paged: sequences grow, end, and share prefixes; blocks of one size make memory for them
// interchangeable, and a block is the unit that is hashed, stored and sent elsewhere. Who owns
// which block is decided elsewhere: this class is only the memory.
//
// Layout, fp32: [block][layer][keys | values], where keys are [kv head][dimension][position] and
// values [kv head][position][dimension] (kernels/cpu/attention.hpp). A block is one contiguous
// range, so that moving it is one copy.
//
// Invariants:
//   1. All memory reads as zero until it is written; it is committed page by page on first use.
//   2. Every block id passed in is below block_count(): forward() checks its rows, this asserts.
//
// Threads: no locks. Different slots may be written at once; a block that is read must not be
// written meanwhile. Units: block_bytes in bytes, strides in floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "kernels/cpu/attention.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/model/llama_config.hpp"

namespace troupe {

/// Positions of a block.
inline constexpr std::uint32_t kBlockTokens = cpu::kKvBlockTokens;

class KvCache {
 public:
  /// Throws std::bad_alloc if the address space for it cannot be had. Requires: block_count > 0.
  KvCache(std::uint32_t block_count, const ModelConfig& config);

  static Bytes block_size(const ModelConfig& config);

  std::uint32_t block_count() const { return block_count_; }
  /// Whether a model of this configuration may use it.
  bool fits(const ModelConfig& config) const;

  /// Everything that the block holds, for export, import and copies.
  std::span<std::byte> block_bytes(BlockId block);
  std::span<const std::byte> block_bytes(BlockId block) const;

  /// Writes one token's keys and values of all heads: [kv head][dimension] each.
  /// Requires: slot < kBlockTokens.
  void store(std::uint32_t layer, BlockId block, std::uint32_t slot, const float* key,
             const float* value);

  /// What attention reads of a sequence.
  cpu::PagedHead head(std::uint32_t layer, std::uint32_t kv_head,
                      std::span<const BlockId> blocks) const;

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };

  std::uint32_t block_count_;
  std::uint32_t layers_;
  std::uint32_t kv_heads_;
  std::uint32_t head_dim_;
  std::size_t head_stride_;  // floats of one head's keys, or values, in a block
  std::size_t layer_stride_;
  std::size_t block_stride_;
  std::unique_ptr<float[], Free> memory_;
};

}  // namespace troupe
