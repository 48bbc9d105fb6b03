// Prefill policies that decide at arrival, and the routing cases about prefixes.
#include "actors/prefill_balancer/push_policy.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace troupe {
namespace {

class PushPolicyTest : public testing::Test {
 protected:
  /// 1 µs a token. Caches of 1,000 blocks.
  void use(PrefillRule rule, std::uint32_t engines) {
    pool = std::make_unique<PrefillPool>(PrefillCurve{0, 1'000, 0});
    PushOptions options;
    options.cache_blocks = 1'000;
    policy = std::make_unique<PushPolicy>(*pool, rule, options);
    for (std::uint32_t i = 0; i < engines; ++i) join();
  }
  EngineId join() {
    Handouts handouts;
    const EngineId engine = pool->add_engine(1);
    policy->joined(engine, handouts);
    return engine;
  }
  void leave(EngineId engine) {
    for (const RequestId request : pool->jobs_of(engine)) {
      pool->take_back(*pool->find(request));
      pool->drop_job(request);
    }
    policy->left(engine);
    pool->remove_engine(engine);
  }
  PrefillJob& arrives(std::uint32_t length, std::uint64_t affinity = 0,
                      std::vector<std::uint64_t> chain = {}) {
    PrefillJob job;
    job.request = RequestId(++next);
    job.length = length;
    job.affinity = affinity;
    job.chain = std::move(chain);
    Handouts handouts;
    policy->arrived(pool->add_job(std::move(job)), handouts);
    return *pool->find(RequestId(next));
  }
  std::uint32_t engine_of(std::uint32_t length, std::uint64_t affinity = 0,
                          std::vector<std::uint64_t> chain = {}) {
    return arrives(length, affinity, std::move(chain)).engine.value;
  }
  /// Load on one engine, whatever the policy would do.
  void load(std::uint32_t engine, std::uint32_t tokens) {
    PrefillJob job;
    job.request = RequestId(++next);
    job.length = tokens;
    pool->hand(pool->add_job(std::move(job)), EngineId(engine), 0);
  }
  static std::vector<std::uint64_t> chain(std::uint64_t from, std::size_t blocks) {
    std::vector<std::uint64_t> hashes(blocks);
    std::iota(hashes.begin(), hashes.end(), from);
    return hashes;
  }

  std::unique_ptr<PrefillPool> pool;
  std::unique_ptr<PushPolicy> policy;
  std::uint64_t next = 0;
};

TEST_F(PushPolicyTest, RoundRobinTakesTurns) {
  use(PrefillRule::kRoundRobin, 3);
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 6; ++i) order.push_back(engine_of(10));
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 0, 1, 2}));
}

TEST_F(PushPolicyTest, LeastWorkTakesTheIdlest) {
  use(PrefillRule::kLeastWork, 3);
  load(0, 500);
  load(2, 100);
  EXPECT_EQ(engine_of(1'000), 1u);
  EXPECT_EQ(engine_of(1'000), 2u);
}

TEST_F(PushPolicyTest, TwoChoicesAreFarMoreEvenThanOne) {
  use(PrefillRule::kTwoChoices, 64);
  for (int i = 0; i < 6'400; ++i) arrives(100);
  Duration most;
  for (const EngineId engine : pool->engines()) most = std::max(most, pool->least_load(engine));
  // Mean 100 requests; one choice by chance would leave about 125 on the fullest.
  EXPECT_LE(most, microseconds(100 * 104));
}

TEST_F(PushPolicyTest, AffinityKeepsAKeyAndSpillsWhenItsEngineIsFull) {
  use(PrefillRule::kAffinity, 8);
  const std::uint32_t home = engine_of(1'000, 77);
  EXPECT_EQ(engine_of(1'000, 77), home);
  load(home, 400'000);
  const std::uint32_t second = engine_of(1'000, 77);
  EXPECT_NE(second, home);
  EXPECT_EQ(engine_of(1'000, 77), second) << "always the same next one";
}

TEST_F(PushPolicyTest, AnEngineThatLeavesMovesOnlyItsOwnKeys) {
  use(PrefillRule::kAffinity, 8);
  std::vector<std::uint32_t> before;
  for (std::uint64_t key = 1; key <= 400; ++key) before.push_back(engine_of(1, key));
  leave(EngineId(3));
  int moved = 0;
  for (std::uint64_t key = 1; key <= 400; ++key) {
    const std::uint32_t now = engine_of(1, key);
    const bool its_own = before[key - 1] == 3;
    EXPECT_TRUE(its_own || now == before[key - 1]) << key;
    moved += its_own ? 1 : 0;
  }
  EXPECT_GT(moved, 10);
  EXPECT_LT(moved, 120);
}

TEST_F(PushPolicyTest, CostWeighsAHitAgainstTheQueueInFrontOfIt) {
  use(PrefillRule::kCost, 2);
  PrefillJob& first = arrives(10'000, 0, chain(1, 78));
  const std::uint32_t holder = first.engine.value;
  policy->computed(first);
  pool->take_back(first);
  load(holder, 5'000);
  EXPECT_EQ(engine_of(10'000, 0, chain(1, 78)), holder) << "5 ms of queue, 9.7 ms saved";
  load(holder, 20'000);
  EXPECT_NE(engine_of(10'000, 0, chain(1, 78)), holder);
}

TEST_F(PushPolicyTest, AHitEndsAWindowBeforeThePrompt) {
  use(PrefillRule::kCost, 1);
  PrefillJob& first = arrives(1'280, 0, chain(1, 10));
  policy->computed(first);
  EXPECT_EQ(arrives(1'280, 0, chain(1, 10)).computed, 1'024u) << "1,280 - 134, at a block";
  EXPECT_EQ(arrives(5'000, 0, chain(1, 39)).computed, 1'280u);
  EXPECT_EQ(arrives(100, 0, chain(1, 1)).computed, 0u);
}

TEST_F(PushPolicyTest, WithoutEnginesRequestsWaitInOrder) {
  use(PrefillRule::kLeastWork, 0);
  const RequestId first = arrives(10).request;
  EXPECT_TRUE(pool->find(first)->waiting());
  arrives(10);
  EXPECT_EQ(policy->waiting(), 2u);
  join();
  EXPECT_EQ(policy->waiting(), 0u);
  EXPECT_FALSE(pool->find(first)->waiting());
}

// Case routing-01: on a miss the worker with the smallest cache is not the one to choose.
TEST_F(PushPolicyTest, Routing01MissesGoByLoad) {
  use(PrefillRule::kCost, 2);
  policy->reported(EngineId(1), chain(1'000, 900), {});
  load(0, 200'000);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(engine_of(1'000, 0, chain(10'000 + 100u * static_cast<std::uint64_t>(i), 7)), 1u);
}

// Case routing-07: with uneven load the prefix still decides among those near the least.
TEST_F(PushPolicyTest, Routing07UnevenLoadDoesNotThrowAwayAffinity) {
  use(PrefillRule::kCost, 3);
  load(0, 10'000);
  load(1, 7'000);
  load(2, 7'000);
  policy->reported(EngineId(1), chain(1, 40), {});
  EXPECT_EQ(engine_of(6'000, 0, chain(1, 46)), 1u);
}

// Case routing-06: what an engine reports replaces the guess; without reports the guess stands.
TEST_F(PushPolicyTest, Routing06ReportsAreBelievedAndGuessesUsedUntilThen) {
  use(PrefillRule::kCost, 1);
  policy->computed(arrives(12'800, 0, chain(1, 100)));
  EXPECT_EQ(arrives(20'000, 0, chain(1, 150)).computed, 12'800u);
  policy->reported(EngineId(0), chain(1, 20), {});
  EXPECT_EQ(arrives(20'000, 0, chain(1, 150)).computed, 2'560u);
  policy->reported(EngineId(0), {}, chain(11, 10));
  EXPECT_EQ(arrives(20'000, 0, chain(1, 150)).computed, 1'280u);
}

TEST(PrefixCache, ForgetsTheLeastRecentlyUsedAndEndsBeforeBeginnings) {
  PrefixCache cache(4);
  const std::vector<std::uint64_t> first{1, 2, 3};
  const std::vector<std::uint64_t> second{7, 8};
  cache.touch(first);
  cache.touch(second);
  EXPECT_EQ(cache.size(), 4u);
  EXPECT_EQ(cache.leading(first), 2u);
  EXPECT_EQ(cache.leading(second), 2u);
  cache.touch(first);
  EXPECT_EQ(cache.leading(first), 3u);
  EXPECT_EQ(cache.leading(second), 1u);
  cache.forget(first);
  EXPECT_EQ(cache.size(), 1u);
  const std::vector<std::uint64_t> zero{0};
  cache.touch(zero);
  EXPECT_EQ(cache.leading(zero), 1u) << "a hash of zero is a hash";
}

TEST(PrefillRule, NamesGoBothWaysAndUnknownOnesAreTold) {
  for (const auto rule : {PrefillRule::kBuckets, PrefillRule::kRoundRobin, PrefillRule::kLeastWork,
                          PrefillRule::kTwoChoices, PrefillRule::kAffinity, PrefillRule::kCost}) {
    EXPECT_EQ(*prefill_rule_from(to_string(rule)), rule);
  }
  EXPECT_NE(prefill_rule_from("best").error().message.find("two-choices"), std::string::npos);
}

}  // namespace
}  // namespace troupe
