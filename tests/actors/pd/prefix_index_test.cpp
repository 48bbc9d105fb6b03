#include "actors/pd/prefix_index.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

SimulatedWork chain_of(std::uint64_t first, std::uint32_t blocks) {
  PromptParts parts;
  for (std::uint32_t i = 0; i < blocks; ++i) parts.chain.push_back(first + i);
  SimulatedWork work;
  work.parts = std::make_shared<const PromptParts>(std::move(parts));
  return work;
}

PrefixIndex::Options lucky() {
  PrefixIndex::Options options;
  options.window_miss = 0;
  return options;
}

TEST(PrefixIndex, APromptIsThereWhenItWasComputedItsAnswerWhenItWasWritten) {
  PrefixIndex index(lucky());
  Rng rng(1);
  const SimulatedWork work = chain_of(100, 12);  // ten blocks of prompt, two of answer
  const std::uint32_t prompt = 10 * 128 + 20, next = 12 * 128 + 500;
  EXPECT_EQ(index.hit(work, prompt, Time(), rng), 0u);
  index.computed(work, prompt, Time());
  EXPECT_EQ(index.hit(work, next, Time(), rng), 10u * 128);
  index.answered(work, Time());
  EXPECT_EQ(index.hit(work, next, Time(), rng), 12u * 128);
  EXPECT_EQ(index.tokens_hit(), 22u * 128);
}

TEST(PrefixIndex, BlocksEndSomeTimeAfterTheirLastUse) {
  PrefixIndex::Options options = lucky();
  options.store_life = seconds(100);
  PrefixIndex index(options);
  Rng rng(1);
  const SimulatedWork early = chain_of(100, 8), late = chain_of(200, 8);
  const std::uint32_t prompt = 8 * 128 + 200;
  index.computed(early, prompt, Time());
  index.computed(late, prompt, Time() + seconds(60));
  EXPECT_EQ(index.hit(early, prompt, Time() + seconds(100), rng), 8u * 128);
  EXPECT_EQ(index.hit(early, prompt, Time() + seconds(101), rng), 0u);
  EXPECT_EQ(index.hit(late, prompt, Time() + seconds(101), rng), 8u * 128);
  index.computed(late, prompt, Time() + seconds(150));  // a use
  EXPECT_EQ(index.hit(late, prompt, Time() + seconds(240), rng), 8u * 128);
  EXPECT_EQ(index.hit(late, prompt, Time() + seconds(251), rng), 0u);
}

TEST(PrefixIndex, TheLeastRecentlyUsedGoWhereTheStoreIsFull) {
  PrefixIndex::Options options = lucky();
  options.store_blocks = 10;
  PrefixIndex index(options);
  Rng rng(1);
  const SimulatedWork first = chain_of(100, 6), second = chain_of(200, 6);
  const std::uint32_t prompt = 6 * 128 + 200;
  index.computed(first, prompt, Time());
  index.computed(second, prompt, Time() + seconds(1));
  EXPECT_EQ(index.hit(second, prompt, Time() + seconds(2), rng), 6u * 128);
  EXPECT_EQ(index.hit(first, prompt, Time() + seconds(2), rng), 4u * 128);
}

TEST(PrefixIndex, WithoutItsWindowAPromptIsComputedFromABlockEarlier) {
  PrefixIndex::Options options = lucky();
  options.window_life = seconds(180);
  PrefixIndex index(options);
  Rng rng(1);
  SimulatedWork work = chain_of(100, 8);
  work.session = 5;
  const std::uint32_t prompt = 8 * 128 + 200;
  index.computed(work, prompt, Time());
  EXPECT_EQ(index.hit(work, prompt, Time() + seconds(179), rng), 8u * 128);
  EXPECT_EQ(index.hit(work, prompt, Time() + seconds(181), rng), 7u * 128);
}

}  // namespace
}  // namespace troupe
