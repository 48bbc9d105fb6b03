// Drives a LlamaModel in tests: a sequence with its blocks, prefilled in chunks, decoded greedily.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/rng.hpp"
#include "runtime/model/llama.hpp"

namespace troupe::test {

inline std::vector<TokenId> random_tokens(std::uint64_t seed, std::size_t count,
                                          std::uint32_t vocabulary) {
  Rng rng(seed);
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.emplace_back(static_cast<std::int32_t>(rng.below(vocabulary)));
  }
  return tokens;
}

struct Sequence {
  std::vector<TokenId> tokens;
  std::vector<BlockId> blocks;
  std::uint32_t computed = 0;  // tokens whose KV is in the cache

  /// The next `count` tokens as a row.
  ForwardRow row(std::size_t count, bool want_logits = true) const {
    return {std::span(tokens).subspan(computed, count), computed, blocks, want_logits};
  }
  std::size_t left() const { return tokens.size() - computed; }
};

inline std::vector<BlockId> block_range(std::uint32_t first, std::uint32_t count) {
  std::vector<BlockId> blocks;
  for (std::uint32_t i = 0; i < count; ++i) blocks.emplace_back(first + i);
  return blocks;
}

inline std::vector<float> forward(LlamaModel& model, KvCache& cache,
                                  std::span<const ForwardRow> rows) {
  const std::atomic<bool> never{false};
  std::vector<float> logits(logits_row_count(rows) * model.config().vocabulary);
  const Status status = model.forward(rows, cache, logits, never);
  EXPECT_TRUE(status.ok()) << to_string(status.error());
  return logits;
}

/// Computes all tokens of the sequence that are left, `chunk` at a time; the last token's logits.
inline std::vector<float> prefill(LlamaModel& model, KvCache& cache, Sequence& sequence,
                                  std::size_t chunk) {
  std::vector<float> logits;
  while (sequence.left() > 0) {
    const std::size_t count = std::min(chunk, sequence.left());
    const ForwardRow row = sequence.row(count, count == sequence.left());
    logits = forward(model, cache, {&row, 1});
    sequence.computed += static_cast<std::uint32_t>(count);
  }
  return logits;
}

inline TokenId greedy(std::span<const float> logits) {
  const auto best = std::max_element(logits.begin(), logits.end());
  return TokenId(static_cast<std::int32_t>(best - logits.begin()));
}

}  // namespace troupe::test
