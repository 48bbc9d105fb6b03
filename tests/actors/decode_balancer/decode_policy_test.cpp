// Which GPU each rule takes, on pools small enough to see it.
#include "actors/decode_balancer/decode_policy.hpp"

#include <gtest/gtest.h>

#include <set>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// A pool whose GPU i has `rows` rows of together `tokens` tokens.
struct PoolOf {
  struct Load {
    std::uint32_t rows;
    std::uint64_t tokens;
  };
  DecodePool pool;
  std::vector<GpuId> gpus;

  explicit PoolOf(std::initializer_list<Load> loads, std::uint32_t blocks = 10'000,
                  std::uint32_t rows_most = 64) {
    for (const Load& load : loads) {
      gpus.push_back(pool.add(blocks, rows_most));
      for (std::uint32_t i = 0; i < load.rows; ++i)
        pool.reserve(gpus.back(), need(load.tokens / load.rows));
    }
  }
  static DecodeNeed need(std::uint64_t tokens, std::uint64_t hash = 1) {
    return {tokens, static_cast<std::uint32_t>((tokens + 127) / 128), hash};
  }
  int choice(DecodeRule rule, std::uint64_t tokens, std::uint64_t level = 1'000'000) {
    DecodePolicy policy(rule);
    const auto gpu = policy.choose(pool, need(tokens), level);
    return gpu ? static_cast<int>(gpu->value) : -1;
  }
};

TEST(DecodePolicy, ShortRequestsGoWhereRowsAreFewAndLongOnesWhereTokensAreFew) {
  // GPU 0: few long ones. GPU 1: many short ones. Together 360,000: with 10,000 more, Z = 194,250.
  PoolOf two{{2, 200'000}, {16, 160'000}};
  EXPECT_EQ(two.choice(DecodeRule::kBalanced, 1'000, 220'000), 0);
  EXPECT_EQ(two.choice(DecodeRule::kBalanced, 30'000, 194'250), 1);
}

TEST(DecodePolicy, AboveTheLevelEverywhereTheFewestTokensWin) {
  PoolOf two{{2, 200'000}, {16, 160'000}};
  EXPECT_EQ(two.choice(DecodeRule::kBalanced, 100'000, 194'250), 1);
  EXPECT_EQ(two.choice(DecodeRule::kBalanced, 300'000, 194'250), 1) << "larger than the level";
}

TEST(DecodePolicy, OthersLookAtOneLoad) {
  PoolOf three{{2, 200'000}, {16, 160'000}, {3, 300'000}};
  EXPECT_EQ(three.choice(DecodeRule::kRows, 100'000), 0);
  EXPECT_EQ(three.choice(DecodeRule::kTokens, 1'000), 1);
}

TEST(DecodePolicy, RowsBreakTiesByTokens) {
  PoolOf three{{2, 200'000}, {2, 100'000}, {2, 150'000}};
  EXPECT_EQ(three.choice(DecodeRule::kRows, 1'000), 1);
}

TEST(DecodePolicy, RoundRobinGoesRoundAndSkipsFullGpus) {
  PoolOf three{{0, 0}, {64, 6'400}, {0, 0}};
  DecodePolicy policy(DecodeRule::kRoundRobin);
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 4; ++i)
    order.push_back(policy.choose(three.pool, PoolOf::need(10), 0)->value);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 2, 0, 2}));
}

TEST(DecodePolicy, TheLiteralSentencePutsShortOnesOnTheMostTokensOfFewRows) {
  PoolOf four{{2, 20'000}, {3, 240'000}, {9, 270'000}, {4, 12'000}};
  DecodePolicy policy(DecodeRule::kLiteral);
  EXPECT_EQ(policy.choose(four.pool, PoolOf::need(50'000), 0)->value, 3u)
      << "the first is no short one";
  EXPECT_EQ(policy.choose(four.pool, PoolOf::need(1'000), 0)->value, 1u);
  EXPECT_EQ(policy.choose(four.pool, PoolOf::need(90'000), 0)->value, 3u);
}

TEST(DecodePolicy, NobodyIsGivenWhatItCannotHold) {
  for (const auto rule : {DecodeRule::kBalanced, DecodeRule::kRows, DecodeRule::kTokens,
                          DecodeRule::kRoundRobin, DecodeRule::kLiteral}) {
    // GPU 0 has the lighter load and no memory; GPU 1 has no row left; GPU 2 drains.
    PoolOf four{{1, 128}, {4, 40'000}, {0, 0}, {3, 60'000}}, full{{2, 128}};
    four.pool.set_draining(four.gpus[2], true);
    DecodePool small;
    small.add(10, 64);
    EXPECT_EQ(full.choice(rule, 128 * 20'000), -1) << to_string(rule);
    DecodePolicy policy(rule);
    EXPECT_FALSE(policy.choose(small, PoolOf::need(128 * 11), 0)) << to_string(rule);
    EXPECT_TRUE(policy.choose(small, PoolOf::need(128 * 10), 0)) << to_string(rule);
    EXPECT_NE(four.choice(rule, 1'000), 2) << to_string(rule);
  }
}

TEST(DecodePolicy, UnequalMemoryIsSeen) {
  DecodePool pool;
  const GpuId small = pool.add(100, 64);
  const GpuId large = pool.add(1'000, 64);
  pool.reserve(large, PoolOf::need(128 * 300));
  DecodePolicy policy;
  EXPECT_EQ(policy.choose(pool, PoolOf::need(128 * 50), 1'000'000), small);
  EXPECT_EQ(policy.choose(pool, PoolOf::need(128 * 200), 1'000'000), large);
}

TEST(DecodePolicy, EqualGpusAreTakenByHash) {
  PoolOf idle{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
  std::set<std::uint32_t> taken;
  for (std::uint64_t hash = 0; hash < 64; ++hash) {
    DecodePolicy policy;
    const auto one = policy.choose(idle.pool, PoolOf::need(10, hash), 1'000);
    DecodePolicy again;
    EXPECT_EQ(one, again.choose(idle.pool, PoolOf::need(10, hash), 1'000));
    taken.insert(one->value);
  }
  EXPECT_EQ(taken.size(), 8u);
}

TEST(DecodePolicy, NamesGoBothWaysAndUnknownOnesAreTold) {
  for (const auto rule : {DecodeRule::kBalanced, DecodeRule::kRows, DecodeRule::kTokens,
                          DecodeRule::kRoundRobin, DecodeRule::kLiteral}) {
    EXPECT_EQ(*decode_rule_from(to_string(rule)), rule);
  }
  const auto unknown = decode_rule_from("fastest");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("round-robin"), std::string::npos);
}

TEST(DecodePool, AnswersLikeAScanOverAllGpus) {
  // 40 GPUs of unequal memory under random reservations, against the rule written as a loop.
  DecodePool pool;
  Rng rng(5);
  std::vector<std::pair<GpuId, DecodeNeed>> held;
  std::vector<GpuId> gpus;
  for (int i = 0; i < 40; ++i) gpus.push_back(pool.add(300 + 100 * (i % 3), 12));
  for (int step = 0; step < 5'000; ++step) {
    const DecodeNeed need = PoolOf::need(1 + rng.below(8'000), rng.next());
    const std::uint64_t most = 5'000 + rng.below(30'000);
    std::optional<std::pair<std::uint64_t, std::uint64_t>> best;
    for (const GpuId gpu : gpus) {
      const DecodeGpu& one = pool.at(gpu);
      if (!pool.fits(gpu, need) || one.tokens > most) continue;
      const std::pair<std::uint64_t, std::uint64_t> load{one.rows, one.tokens};
      if (!best || load < *best) best = load;
    }
    const auto got = pool.fewest_rows(need, most);
    ASSERT_EQ(got.has_value(), best.has_value()) << step;
    if (got) {
      EXPECT_EQ(std::make_pair(std::uint64_t{pool.at(*got).rows}, pool.at(*got).tokens), *best);
      pool.reserve(*got, need);
      held.emplace_back(*got, need);
    }
    while (held.size() > 350 || (!held.empty() && rng.chance(0.3))) {
      std::swap(held[rng.below(held.size())], held.back());
      pool.release(held.back().first, held.back().second);
      held.pop_back();
    }
  }
  std::uint64_t tokens = 0;
  for (const auto& [gpu, need] : held) tokens += need.tokens;
  EXPECT_EQ(pool.tokens(), tokens);
}

}  // namespace
}  // namespace troupe
