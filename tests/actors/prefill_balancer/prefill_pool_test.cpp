// Loads of prefill engines, and layer c: the rank within an engine.
#include "actors/prefill_balancer/prefill_pool.hpp"

#include <gtest/gtest.h>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// 1 µs a token, nothing else: loads are lengths.
constexpr PrefillCurve kPlain{0, 1'000, 0};

PrefillJob job_of(std::uint64_t request, std::uint32_t length, std::uint32_t hit = 0) {
  PrefillJob job;
  job.request = RequestId(request);
  job.length = length;
  job.hit = hit;
  return job;
}

TEST(PrefillPool, ARequestGoesToTheIdlestRankOfItsEngine) {
  PrefillPool pool(kPlain);
  const EngineId engine = pool.add_engine(4);
  for (const std::uint32_t length : {900u, 100u, 500u, 300u, 250u, 10u}) {
    static std::uint64_t next = 0;
    pool.hand(pool.add_job(job_of(++next, length)), engine, 0);
  }
  // 900 | 100 + 250 | 500 | 300 + 10
  EXPECT_EQ(pool.find(RequestId(5))->rank, pool.find(RequestId(2))->rank);
  EXPECT_EQ(pool.find(RequestId(6))->rank, pool.find(RequestId(4))->rank);
  EXPECT_EQ(pool.least_load(engine), microseconds(310));
  EXPECT_EQ(pool.total_load(), microseconds(2'060));
}

TEST(PrefillPool, LoadIsWhatIsLeftToCompute) {
  PrefillPool pool(PrefillCurve{22e6, 10'000, 0.01});
  const EngineId engine = pool.add_engine(1);
  PrefillJob& job = pool.add_job(job_of(1, 10'000, 6'000));
  EXPECT_EQ(job.quota, pool.curve().work(4'000, 6'000));
  pool.hand(job, engine, job.hit);
  EXPECT_EQ(pool.least_load(engine), job.quota);
  pool.advance(job, 8'000);
  EXPECT_EQ(pool.least_load(engine), pool.curve().work(2'000, 8'000));
  pool.advance(job, 7'000);
  EXPECT_EQ(job.computed, 8'000u) << "word of an earlier step comes late";
  pool.set_curve(kPlain);
  pool.advance(job, 10'000);
  EXPECT_EQ(pool.least_load(engine), Duration());
}

TEST(PrefillPool, WorkTakenBackBeginsAnewAtItsOldPlace) {
  PrefillPool pool(kPlain);
  const EngineId engine = pool.add_engine(2);
  for (std::uint64_t id = 1; id <= 4; ++id)
    pool.hand(pool.add_job(job_of(id, 100, 20)), engine, 20);
  pool.advance(*pool.find(RequestId(2)), 70);
  pool.take_back(*pool.find(RequestId(3)));
  EXPECT_EQ(pool.jobs_of(engine),
            (std::vector<RequestId>{RequestId(1), RequestId(2), RequestId(4)}));
  for (const RequestId request : pool.jobs_of(engine)) pool.take_back(*pool.find(request));
  EXPECT_EQ(pool.total_load(), Duration());
  EXPECT_EQ(pool.find(RequestId(2))->computed, 20u);
  EXPECT_LT(pool.find(RequestId(3))->order, pool.find(RequestId(4))->order);
  pool.remove_engine(engine);
  EXPECT_FALSE(pool.idlest(0, 1));
}

TEST(PrefillPool, IdlestAnswersLikeAScan) {
  PrefillPool pool(kPlain);
  Rng rng(2);
  std::vector<EngineId> engines;
  for (int i = 0; i < 24; ++i)
    engines.push_back(pool.add_engine(1 + static_cast<std::uint32_t>(rng.below(4))));
  std::vector<RequestId> held;
  std::uint64_t next = 0;
  for (int step = 0; step < 4'000; ++step) {
    Duration least = pool.least_load(engines[0]);
    for (const EngineId engine : engines) least = std::min(least, pool.least_load(engine));
    const auto idlest = pool.idlest(0, rng.next());
    ASSERT_TRUE(idlest);
    ASSERT_EQ(pool.least_load(*idlest), least);
    PrefillJob& job =
        pool.add_job(job_of(++next, 1 + static_cast<std::uint32_t>(rng.below(3'000))));
    pool.hand(job, rng.chance(0.7) ? *idlest : engines[rng.below(24)], 0);
    held.push_back(job.request);
    while (held.size() > 100 || (!held.empty() && rng.chance(0.4))) {
      std::swap(held[rng.below(held.size())], held.back());
      pool.take_back(*pool.find(held.back()));
      pool.drop_job(held.back());
      held.pop_back();
    }
  }
  Duration sum;
  for (const RequestId request : held) sum += pool.find(request)->load;
  EXPECT_EQ(pool.total_load(), sum);
}

}  // namespace
}  // namespace troupe
