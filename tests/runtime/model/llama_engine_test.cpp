// What the engine between a rank and a model adds: tokens from logits.
#include "runtime/model/llama_engine.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/model/tiny_llama.hpp"

namespace troupe {
namespace {

/// The first token after a prompt of one token.
TokenId first_token(LlamaEngine& engine, std::uint32_t row_number, float temperature,
                    std::uint64_t seed) {
  StepPlan plan;
  StepRow row;
  row.row = RowId(row_number);
  row.fresh = true;
  row.count = row.prompt_length = 1;
  row.sample = true;
  row.tokens = std::make_shared<const std::vector<TokenId>>(1, TokenId(5));
  row.blocks = {BlockId(row_number)};
  row.sampling.temperature = temperature;
  row.sampling.seed = seed;
  plan.rows.push_back(row);
  const std::atomic<bool> cancelled{false};
  EXPECT_TRUE(engine.forward(plan, cancelled).ok());
  return engine.sample(plan, cancelled).value().rows.at(0).tokens.at(0);
}

// Case validation-07: a vocabulary is padded with rows that no tokenizer knows.
TEST(LlamaEngine, padding_of_the_vocabulary_is_never_sampled) {
  const test::TinyLlama tiny;
  LlamaEngine whole(tiny.load({}), 4, tiny.vocabulary);
  const TokenId likeliest = first_token(whole, 0, 0, 1);
  // All from the likeliest token on is padding now: greedy must choose another one.
  const auto tokens = static_cast<std::size_t>(likeliest.value);
  ASSERT_GT(tokens, 1u);
  LlamaEngine padded(tiny.load({}), 4, tokens);
  EXPECT_LT(first_token(padded, 0, 0, 1).value, likeliest.value);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_LT(first_token(padded, 1, 2.0F, seed).value, likeliest.value);
  }
}

}  // namespace
}  // namespace troupe
