// The seed's prefill policy: pulling, buckets, helping.
#include "actors/prefill_balancer/bucket_policy.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

constexpr std::uint32_t kShort = 1'000;
constexpr std::uint32_t kMiddle = 20'000;
constexpr std::uint32_t kLong = 300'000;

class BucketPolicyTest : public testing::Test {
 protected:
  explicit BucketPolicyTest(const BucketOptions& given = options()) : policy(pool, given) {}
  /// 1 µs a token; an engine asks below 100 ms and fills up to 200 ms.
  static BucketOptions options() {
    BucketOptions options;
    options.least = milliseconds(100);
    options.most = milliseconds(200);
    return options;
  }
  void engines(std::uint32_t count, std::uint32_t ranks = 1) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Handouts handouts;
      const EngineId engine = pool.add_engine(ranks);
      policy.joined(engine, handouts);
      all.push_back(engine);
      note(handouts);
    }
  }
  /// A request that arrives. Its number.
  std::uint64_t arrives(std::uint32_t length, Duration at = Duration()) {
    PrefillJob job;
    job.request = RequestId(++next);
    job.length = length;
    job.came = Time() + at;
    Handouts handouts;
    policy.arrived(pool.add_job(std::move(job)), handouts);
    note(handouts);
    return next;
  }
  void arrive(std::uint32_t count, std::uint32_t length) {
    for (std::uint32_t i = 0; i < count; ++i) arrives(length);
  }
  void ends(std::uint64_t request) {
    PrefillJob& job = *pool.find(RequestId(request));
    const EngineId engine = job.engine;
    pool.take_back(job);
    pool.drop_job(RequestId(request));
    Handouts handouts;
    policy.has_room(engine, handouts);
    note(handouts);
  }
  void round() {
    Handouts handouts;
    policy.round(handouts);
    note(handouts);
  }
  /// All that was handed out ends.
  void end_all() {
    while (!handed.empty()) {
      const std::uint64_t done = handed.back();
      handed.pop_back();
      ends(done);
    }
  }
  /// Rounds in which all buckets ask for as much: a split that stands.
  void settle() {
    for (std::uint32_t i = 0; i < options().settling; ++i) {
      arrive(300, kShort);
      arrive(15, kMiddle);
      arrive(3, 100'000);
      arrives(kLong);
      round();
      end_all();
    }
  }
  void note(const Handouts& handouts) {
    for (const RequestId request : handouts) handed.push_back(request.value);
  }
  std::uint32_t lane_of_engine(std::uint64_t request) {
    return pool.group_of(pool.find(RequestId(request))->engine);
  }

  PrefillPool pool{PrefillCurve{0, 1'000, 0}};
  BucketPolicy policy;
  std::vector<EngineId> all;
  std::vector<std::uint64_t> handed;
  std::uint64_t next = 0;
};

TEST_F(BucketPolicyTest, AnEngineTakesNoMoreThanItsShareOfWhatWaits) {
  engines(1);
  arrive(100, kShort);
  EXPECT_EQ(policy.waiting(), 0u) << "up to 100 ms it may always have in hand";
  arrive(200, kShort);
  EXPECT_EQ(policy.waiting(), 150u) << "150 ms of 300: as much waits for its rank as it has";
  arrive(200, kShort);
  EXPECT_EQ(pool.least_load(all[0]), milliseconds(200)) << "but not more than two steps";
  for (std::uint64_t id = 1; id <= 450; ++id) {
    ends(id);
    const auto left = milliseconds(500 - static_cast<std::int64_t>(id));
    EXPECT_GE(pool.least_load(all[0]), std::min(milliseconds(100), left)) << id;
  }
  EXPECT_EQ(policy.waiting(), 0u);
  EXPECT_TRUE(std::is_sorted(handed.begin(), handed.end()));
}

TEST_F(BucketPolicyTest, RanksThatWaitForAFullOneAreFilledToItsLevel) {
  engines(1, 3);
  arrives(150'000);
  arrive(400, kShort);
  EXPECT_EQ(pool.rank_load(all[0], 0), milliseconds(150));
  EXPECT_EQ(pool.rank_load(all[0], 1), milliseconds(150));
  EXPECT_EQ(pool.rank_load(all[0], 2), milliseconds(150));
  EXPECT_EQ(policy.waiting(), 100u);
}

TEST_F(BucketPolicyTest, ButNotBeyondTwoSteps) {
  engines(1, 2);
  arrives(kLong);
  arrive(400, kShort);
  EXPECT_EQ(pool.least_load(all[0]), milliseconds(200));
}

TEST_F(BucketPolicyTest, EachRankOfAnEngineIsFed) {
  engines(1, 4);
  arrives(kLong);  // one rank is busy for long; the others are not kept from working
  arrive(600, kShort);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_GE(pool.rank_load(all[0], rank), milliseconds(100)) << rank;
  }
}

TEST_F(BucketPolicyTest, BucketsDivideEnginesByDemand) {
  engines(8);
  for (std::uint32_t bucket = 0; bucket < 4; ++bucket) EXPECT_EQ(policy.engines_of(bucket), 2u);
  // Three quarters of the quota by short prompts, one by long ones, round after round.
  for (int i = 0; i < 20; ++i) {
    arrive(900, kShort);
    arrives(kLong);
    round();
    while (!handed.empty()) {
      const std::uint64_t done = handed.back();
      handed.pop_back();
      ends(done);
    }
  }
  EXPECT_EQ(policy.engines_of(0), 6u);
  EXPECT_EQ(policy.engines_of(3), 2u);
}

TEST_F(BucketPolicyTest, TheFirstDemandSplitsAllEngines) {
  engines(8);
  EXPECT_FALSE(policy.wants_round());
  arrive(40, kMiddle);
  EXPECT_TRUE(policy.wants_round());
  round();
  EXPECT_FALSE(policy.wants_round());
  EXPECT_EQ(policy.engines_of(1), 8u) << "the even spread was nobody's demand";
  end_all();
  // The next rounds may still say that the first one was chance.
  arrive(700, kShort);
  EXPECT_FALSE(policy.wants_round());
  round();
  EXPECT_EQ(policy.engines_of(0) + policy.engines_of(1), 8u);
  EXPECT_GE(policy.engines_of(0), 3u);
}

TEST_F(BucketPolicyTest, ASplitIsMadeAnewAfterAPauseWithoutDemand) {
  engines(8);
  settle();
  arrive(100, kShort);
  round();
  end_all();
  EXPECT_LE(policy.engines_of(0), 3u) << "it stands: one moves";
  for (int i = 0; i < 60; ++i) round();
  arrive(100, kShort);
  EXPECT_TRUE(policy.wants_round());
  round();
  EXPECT_EQ(policy.engines_of(0), 8u);
}

TEST_F(BucketPolicyTest, ARoundMovesOneEngineAndAFirstOneBesides) {
  engines(8);
  settle();
  for (std::uint32_t lane = 0; lane < 4; ++lane) ASSERT_EQ(policy.engines_of(lane), 2u) << lane;
  for (int i = 0; i < 20; ++i) {  // only short ones: the other buckets lose their engines
    arrive(100, kShort);
    const auto before = policy.engines_of(0);
    round();
    EXPECT_LE(policy.engines_of(0), before + 1);
    while (!handed.empty()) {
      const std::uint64_t done = handed.back();
      handed.pop_back();
      ends(done);
    }
  }
  ASSERT_EQ(policy.engines_of(0), 8u);
  arrive(2'000, kShort);  // nobody is idle
  arrives(kMiddle);
  arrives(kLong);
  round();
  EXPECT_GE(policy.engines_of(1), 1u);
  EXPECT_GE(policy.engines_of(3), 1u);
  EXPECT_EQ(policy.engines_of(0) + policy.engines_of(1) + policy.engines_of(3), 8u);
}

TEST_F(BucketPolicyTest, IdleEnginesHelpTheNearestBucketLongerFirst) {
  engines(8);
  arrive(16, kMiddle);  // 10 by its own two engines; the rest by idle ones of the others
  EXPECT_EQ(policy.waiting(), 0u);
  std::array<int, 4> by_lane{};
  for (const std::uint64_t request : handed) ++by_lane[lane_of_engine(request)];
  EXPECT_EQ(by_lane[1], 10);
  EXPECT_EQ(by_lane[0], 2) << "each idle engine takes one, and is not idle any more";
  EXPECT_EQ(by_lane[2], 2);
  EXPECT_EQ(by_lane[3], 2);
}

TEST_F(BucketPolicyTest, AnIdleEngineTakesTheLongerOfTwoNeighbours) {
  engines(8);
  arrive(2, 120'000);
  arrive(2, kLong);
  arrive(202, kShort);  // two of them by idle engines of bucket 1
  arrive(10, kMiddle);
  ASSERT_EQ(policy.waiting(), 0u);  // and nobody has less than 100 ms now
  arrive(20, kShort);
  arrives(120'000);
  const std::uint64_t last = next;
  ASSERT_EQ(policy.waiting(), 21u);
  const EngineId engine = pool.find(RequestId(handed.back()))->engine;
  ASSERT_EQ(pool.group_of(engine), 1u);
  handed.clear();
  for (const RequestId request : pool.jobs_of(engine)) ends(request.value);
  EXPECT_EQ(handed, (std::vector<std::uint64_t>{last}));
}

TEST_F(BucketPolicyTest, ABucketsOnlyEngineTakesNothingLonger) {
  engines(4);
  arrives(kShort);
  arrives(kLong);
  const std::uint64_t second = arrives(kLong);
  // Engines 1 and 2 are alone in buckets that nobody asks for; engine 0 has had short ones.
  EXPECT_FALSE(pool.find(RequestId(second))->waiting());
  EXPECT_NE(lane_of_engine(second), 0u);
  arrives(kLong);
  ends(1);
  const std::uint64_t fourth = arrives(kLong);
  EXPECT_TRUE(pool.find(RequestId(fourth))->waiting());
  EXPECT_EQ(policy.engines_of(0), 1u);
  const std::uint64_t quick = arrives(kShort);
  EXPECT_EQ(lane_of_engine(quick), 0u) << "it found its engine free";
}

TEST_F(BucketPolicyTest, FewEnginesServeAllBuckets) {
  engines(2);
  EXPECT_EQ(policy.lane_of(0), 0u);
  EXPECT_EQ(policy.lane_of(1), 1u);
  EXPECT_EQ(policy.lane_of(3), 1u);
  for (const std::uint32_t length : {kShort, kMiddle, 100'000u, kLong}) arrives(length);
  for (int i = 0; i < 8 && policy.waiting() > 0; ++i) ends(handed[static_cast<std::size_t>(i)]);
  EXPECT_EQ(policy.waiting(), 0u);
}

TEST_F(BucketPolicyTest, WorkOfALostEngineIsFirstInItsQueueAgain) {
  engines(1);
  arrive(300, kShort);
  const EngineId lost = all[0];
  const auto jobs = pool.jobs_of(lost);
  ASSERT_EQ(jobs.size(), 150u);
  for (const RequestId request : jobs) pool.take_back(*pool.find(request));
  policy.left(lost);
  pool.remove_engine(lost);
  handed.clear();
  Handouts handouts;
  for (const RequestId request : jobs) policy.arrived(*pool.find(request), handouts);
  EXPECT_TRUE(handouts.empty());
  EXPECT_EQ(policy.waiting(), 300u);
  engines(1);
  ASSERT_EQ(handed.size(), 150u);
  EXPECT_EQ(handed.front(), 1u);
  EXPECT_TRUE(std::is_sorted(handed.begin(), handed.end()));
  EXPECT_EQ(pool.find(RequestId(1))->generation, 2u);
}

/// Engines of one rank: 50 ms in hand, steps of 200 ms.
class OneRankEngines : public BucketPolicyTest {
 protected:
  OneRankEngines() : BucketPolicyTest(BucketOptions::for_engines(1, milliseconds(200))) {}
};

TEST_F(OneRankEngines, ARequestIsPassedByThoseThatComeWithinItsOwnTime) {
  engines(1);
  arrives(60'000);
  const auto second = arrives(40'000, milliseconds(1));
  const auto quick = arrives(10'000, milliseconds(2));
  const auto last = arrives(30'000, milliseconds(20));
  ends(1);
  EXPECT_EQ(handed, (std::vector<std::uint64_t>{1, quick, second})) << "50 ms are in hand then";
  ends(quick);
  EXPECT_EQ(handed.back(), last);
}

TEST_F(OneRankEngines, APromptThatFillsAStepStartsAlone) {
  engines(1);
  const auto first = arrives(10'000);
  const auto whole = arrives(250'000, milliseconds(1));
  EXPECT_EQ(policy.waiting(), 1u) << "10 ms in hand: one that fits into the step would be taken";
  const auto quick = arrives(kShort, milliseconds(2));
  EXPECT_EQ(handed, (std::vector<std::uint64_t>{first, quick}));
  ends(first);
  EXPECT_EQ(policy.waiting(), 1u);
  ends(quick);
  EXPECT_EQ(handed.back(), whole);
}

/// How long after a short prompt, which waits, one of the next bucket came.
class LateBucket : public OneRankEngines, public testing::WithParamInterface<std::int64_t> {};

TEST_P(LateBucket, IsServedByTheEnginesOfOthers) {
  engines(2);
  arrives(60'000);  // by the engine of longer ones
  arrive(50, kShort);
  const auto waits = arrives(kShort);
  const auto own = arrives(kMiddle, milliseconds(GetParam()));
  ASSERT_EQ(policy.waiting(), 2u);
  handed.clear();
  ends(1);
  if (GetParam() > 200) {
    EXPECT_EQ(handed, (std::vector<std::uint64_t>{waits, own}));
  } else {
    EXPECT_EQ(handed, (std::vector<std::uint64_t>{own}));
  }
}

INSTANTIATE_TEST_SUITE_P(BySteps, LateBucket, testing::Values(100, 300));

}  // namespace
}  // namespace troupe
