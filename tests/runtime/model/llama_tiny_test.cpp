// The forward pass on tiny random models: right to fp32 rounding, and cancellable.
#include <gtest/gtest.h>

#include <thread>

#include "tests/runtime/model/llama_double.hpp"
#include "tests/runtime/model/llama_run.hpp"
#include "tests/runtime/model/tiny_llama.hpp"

namespace troupe::test {
namespace {

/// Logits are of magnitude 1 to 10, and sums of some 100 products: 2e-4 is about 1000 roundings.
constexpr double kTolerance = 2e-4;

void expect_near_double(const TinyLlama& tiny, const cpu::Kernels& kernels, std::size_t length) {
  const auto file = *tiny.build();
  const auto model = *LlamaModel::load(file, {.kernels = &kernels});
  KvCache cache(2, model->config());
  Sequence sequence{random_tokens(7, length, tiny.vocabulary), block_range(0, 2)};
  const auto logits = prefill(*model, cache, sequence, length);
  const Numbers expected = DoubleLlama(*file, model->config()).last_logits(sequence.tokens);
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    ASSERT_NEAR(logits[i], expected[i], kTolerance) << kernels.name << " logit " << i;
  }
}

TEST(LlamaTiny, MatchesDoublePrecision) {
  for (const cpu::Kernels* kernels : cpu::all_kernels()) {
    expect_near_double(TinyLlama{}, *kernels, 1);
    expect_near_double(TinyLlama{}, *kernels, 37);
    expect_near_double(TinyLlama{}, *kernels, 133);
  }
}

TEST(LlamaTiny, TiedHeadWithoutGroups) {
  const TinyLlama tiny{.heads = 3, .kv_heads = 3, .head_dim = 32, .rope_dims = 32, .tied = true};
  for (const cpu::Kernels* kernels : cpu::all_kernels()) expect_near_double(tiny, *kernels, 33);
}

TEST(LlamaTiny, ACancelledPassSaysSoAndLeavesEarlierPositionsAlone) {
  const auto model = TinyLlama{}.load({});
  KvCache cache(2, model->config());
  Sequence sequence{random_tokens(3, 40, model->config().vocabulary), block_range(0, 2)};
  const auto expected = prefill(*model, cache, sequence, 40);
  sequence.computed = 30;
  const std::atomic<bool> cancelled{true};
  std::vector<float> logits(model->config().vocabulary);
  const ForwardRow row = sequence.row(10);
  const Status status = model->forward({&row, 1}, cache, logits, cancelled);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kCancelled);
  EXPECT_EQ(prefill(*model, cache, sequence, 10), expected);
}

TEST(LlamaTiny, CancelFromAnotherThreadEndsALongPass) {
  const auto model = TinyLlama{.layers = 200}.load({.threads = 2});
  KvCache cache(4, model->config());
  const Sequence sequence{random_tokens(3, 500, model->config().vocabulary), block_range(0, 4)};
  std::atomic<bool> cancelled{false};
  std::thread canceller([&] { cancelled = true; });
  std::vector<float> logits(model->config().vocabulary);
  const ForwardRow row = sequence.row(500);
  const Status status = model->forward({&row, 1}, cache, logits, cancelled);
  canceller.join();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kCancelled);
}

TEST(LlamaTiny, NoRowsIsNoWork) {
  const auto model = TinyLlama{}.load({});
  KvCache cache(1, model->config());
  EXPECT_TRUE(forward(*model, cache, {}).empty());
}

}  // namespace
}  // namespace troupe::test
