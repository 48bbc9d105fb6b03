// Batch invariance, bit by bit: the logits of a sequence do not depend on what it shares a pass
// with, how its prompt was cut, where its blocks lie, or how many threads computed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "tests/runtime/model/llama_run.hpp"
#include "tests/runtime/model/smollm2.hpp"
#include "tests/runtime/model/tiny_llama.hpp"

namespace troupe::test {
namespace {

using Logits = std::vector<float>;

void expect_same_bits(const Logits& a, const Logits& b) {
  ASSERT_EQ(a.size(), b.size());
  if (std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0) return;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i] ? 1 : 0;
  FAIL() << different << " of " << a.size() << " logits differ";
}

/// Chunks of a 200-token prompt must agree, one that crosses a block boundary among them.
void check_chunkings(LlamaModel& model, std::span<const std::size_t> chunks) {
  KvCache cache(2, model.config());
  Sequence sequence{random_tokens(11, 200, model.config().vocabulary), block_range(0, 2)};
  const Logits whole = prefill(model, cache, sequence, 200);
  for (const std::size_t chunk : chunks) {
    SCOPED_TRACE("chunks of " + std::to_string(chunk));
    sequence.computed = 0;
    expect_same_bits(prefill(model, cache, sequence, chunk), whole);
  }
}

/// Sequences of different lengths, each with its own blocks.
std::vector<Sequence> make_sequences(std::uint32_t count, std::uint32_t vocabulary) {
  std::vector<Sequence> sequences;
  for (std::uint32_t i = 0; i < count; ++i) {
    sequences.push_back({random_tokens(100 + i, 6 + 17 * i, vocabulary), block_range(4 * i, 4)});
  }
  return sequences;
}

/// Steps back, so that the last `count` tokens of each sequence are computed again.
void leave(std::vector<Sequence>& sequences, std::uint32_t count) {
  for (auto& sequence : sequences) {
    sequence.computed = static_cast<std::uint32_t>(sequence.tokens.size()) - count;
  }
}

/// Decodes the last token of each sequence in batches of `batch` rows.
std::vector<Logits> decode_in_batches(LlamaModel& model, KvCache& cache,
                                      std::vector<Sequence>& sequences, std::size_t batch) {
  leave(sequences, 1);
  std::vector<Logits> results;
  for (std::size_t first = 0; first < sequences.size(); first += batch) {
    std::vector<ForwardRow> rows;
    const std::size_t end = std::min(sequences.size(), first + batch);
    for (std::size_t i = first; i < end; ++i) rows.push_back(sequences[i].row(1));
    const Logits logits = forward(model, cache, rows);
    const auto size = static_cast<std::ptrdiff_t>(model.config().vocabulary);
    for (auto at = logits.begin(); at != logits.end(); at += size)
      results.emplace_back(at, at + size);
  }
  return results;
}

/// Rows of 5 tokens in one pass, as when prefill chunks share it; every other one wants no logits.
void check_mixed_pass(LlamaModel& model, KvCache& cache, std::vector<Sequence>& sequences,
                      std::span<const Logits> expected) {
  leave(sequences, 5);
  std::vector<ForwardRow> rows;
  for (std::size_t i = 0; i < 6; ++i) rows.push_back(sequences[i].row(5, i % 2 == 1));
  const Logits logits = forward(model, cache, rows);
  const std::size_t size = model.config().vocabulary;
  ASSERT_EQ(logits.size(), 3 * size);
  for (std::size_t i = 1; i < 6; i += 2) {
    const auto at = logits.begin() + static_cast<std::ptrdiff_t>(i / 2 * size);
    expect_same_bits(Logits(at, at + static_cast<std::ptrdiff_t>(size)), expected[i]);
  }
}

void check_batches(LlamaModel& model) {
  KvCache cache(64, model.config());
  auto sequences = make_sequences(16, model.config().vocabulary);
  std::vector<Logits> alone;
  for (auto& sequence : sequences) alone.push_back(prefill(model, cache, sequence, 512));
  for (const std::size_t batch : {1, 3, 16}) {
    const auto together = decode_in_batches(model, cache, sequences, batch);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      SCOPED_TRACE("row " + std::to_string(i) + " in a batch of " + std::to_string(batch));
      expect_same_bits(together[i], alone[i]);
    }
  }
  check_mixed_pass(model, cache, sequences, alone);
}

TEST(LlamaInvariance, Chunkings) {
  for (const cpu::Kernels* kernels : cpu::all_kernels()) {
    SCOPED_TRACE(kernels->name);
    const auto model = TinyLlama{}.load({.kernels = kernels});
    check_chunkings(*model, std::array<std::size_t, 8>{1, 2, 3, 6, 7, 64, 127, 128});
  }
}

TEST(LlamaInvariance, Batches) {
  for (const cpu::Kernels* kernels : cpu::all_kernels()) {
    SCOPED_TRACE(kernels->name);
    const auto model = TinyLlama{}.load({.kernels = kernels});
    check_batches(*model);
  }
}

TEST(LlamaInvariance, Threads) {
  const auto one = TinyLlama{}.load({.threads = 1});
  KvCache cache(4, one->config());
  Sequence sequence{random_tokens(5, 300, one->config().vocabulary), block_range(0, 4)};
  const Logits expected = prefill(*one, cache, sequence, 299);
  for (const std::uint32_t threads : {2u, 3u, 7u}) {
    const auto many = TinyLlama{}.load({.threads = threads});
    KvCache own(4, many->config());
    sequence.computed = 0;
    expect_same_bits(prefill(*many, own, sequence, 299), expected);
    EXPECT_TRUE(std::ranges::equal(own.block_bytes(BlockId(1)), cache.block_bytes(BlockId(1))));
  }
}

TEST(LlamaInvariance, PlaceOfBlocksAndStaleContents) {
  const auto model = TinyLlama{}.load({});
  KvCache cache(8, model->config());
  Sequence sequence{random_tokens(5, 300, model->config().vocabulary), block_range(0, 3)};
  const Logits expected = prefill(*model, cache, sequence, 300);
  for (std::uint32_t block = 3; block < 8; ++block) {
    const auto bytes = cache.block_bytes(BlockId(block));
    std::memset(bytes.data(), 0xff, bytes.size());  // NaN in every slot
  }
  sequence.blocks = {BlockId(7), BlockId(3), BlockId(5), BlockId(4)};
  sequence.computed = 0;
  expect_same_bits(prefill(*model, cache, sequence, 70), expected);
}

TEST(LlamaInvariance, ExportedBlocksContinueElsewhere) {
  const auto model = TinyLlama{}.load({});
  KvCache here(2, model->config());
  KvCache there(4, model->config());
  Sequence sequence{random_tokens(5, 200, model->config().vocabulary), block_range(0, 2)};
  const Logits expected = prefill(*model, here, sequence, 100);
  for (std::uint32_t block = 0; block < 2; ++block) {
    std::ranges::copy(here.block_bytes(BlockId(block)),
                      there.block_bytes(BlockId(3 - block)).begin());
  }
  sequence.blocks = {BlockId(3), BlockId(2)};
  sequence.computed = 199;
  expect_same_bits(prefill(*model, there, sequence, 1), expected);
}

// Minutes under a sanitizer, where the tiny models run the same code.
#if !TROUPE_SANITIZED
TEST(LlamaInvariance, SmolLm2) {
  TROUPE_NEEDS_FILE(smollm2_path());
  const auto one = load_smollm2({.threads = 1});
  check_chunkings(*one, std::array<std::size_t, 4>{1, 7, 64, 128});
  check_batches(*one);
  const auto two = load_smollm2({.threads = 2});
  KvCache cache(2, one->config());
  Sequence sequence{random_tokens(9, 130, one->config().vocabulary), block_range(0, 2)};
  const Logits expected = prefill(*one, cache, sequence, 128);
  sequence.computed = 0;
  expect_same_bits(prefill(*two, cache, sequence, 50), expected);
}
#endif

}  // namespace
}  // namespace troupe::test
