// Layer d: a GPU's FIFO in chunks by time.
#include "actors/prefill_balancer/chunk_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

/// 10 ms a step, 10 µs a token, and a bit for what is before it.
constexpr PrefillCurve kCurve{10e6, 10'000, 0.001};

TEST(ChunkQueue, AStepTakesRequestsInOrderUntilItsTimeIsUp) {
  ChunkQueue queue(PrefillCurve{10e6, 10'000, 0}, milliseconds(50));
  queue.push(RequestId(1), 0, 1'000);
  queue.push(RequestId(2), 128, 1'128);
  queue.push(RequestId(3), 0, 5'000);
  const auto step = queue.next_step();  // 40 ms: 4,000 tokens
  ASSERT_EQ(step.size(), 3u);
  EXPECT_EQ(step[1].start, 128u);
  EXPECT_TRUE(step[0].last && step[1].last);
  EXPECT_EQ(step[2].tokens, 1'920u) << "2,000, at a block";
  EXPECT_FALSE(step[2].last);
  EXPECT_EQ(queue.predicted(), milliseconds(10) + microseconds(39'200));
  EXPECT_EQ(queue.load(), microseconds(30'800));
}

TEST(ChunkQueue, ALongPrefixMakesChunksShorter) {
  const auto chunk_behind = [](std::uint32_t prefix) {
    ChunkQueue queue(kCurve, milliseconds(200));
    queue.push(RequestId(1), prefix, prefix + 100'000);
    return queue.next_step().front().tokens;
  };
  EXPECT_GT(chunk_behind(0), chunk_behind(500'000));
  EXPECT_GE(chunk_behind(100'000'000), 128u) << "nobody starves behind a long prefix";
}

TEST(ChunkQueue, AnOverrunIsTakenFromTheNextStepWithinBounds) {
  const auto tokens_after = [](Duration took) {
    ChunkQueue queue(PrefillCurve{10e6, 10'000, 0}, milliseconds(50));
    queue.push(RequestId(1), 0, 1'000'000);
    (void)queue.next_step();
    queue.took(took);
    return queue.next_step().front().tokens;
  };
  EXPECT_EQ(tokens_after(milliseconds(50)), 3'968u);
  EXPECT_EQ(tokens_after(milliseconds(30)), 3'968u) << "time that was saved is not spent twice";
  EXPECT_EQ(tokens_after(milliseconds(55)), 3'456u);
  EXPECT_EQ(tokens_after(seconds(5)), 2'688u) << "a quarter of the budget at most";
}

TEST(ChunkQueue, EveryTokenIsComputedOnceInOrder) {
  Rng rng(9);
  ChunkQueue queue(kCurve, milliseconds(80));
  std::map<RequestId, std::pair<std::uint32_t, std::uint32_t>> at;  // computed, length
  std::uint64_t next = 0;
  std::uint64_t first_unfinished = 1;
  for (int step = 0; step < 3'000; ++step) {
    while (queue.size() < 6 && rng.chance(0.7)) {
      const auto hit = static_cast<std::uint32_t>(rng.below(20'000));
      const auto length = hit + 1 + static_cast<std::uint32_t>(rng.below(30'000));
      queue.push(RequestId(++next), hit, length);
      at[RequestId(next)] = {hit, length};
    }
    for (const auto& chunk : queue.next_step()) {
      auto& [computed, length] = at[chunk.request];
      ASSERT_EQ(chunk.start, computed);
      ASSERT_GT(chunk.tokens, 0u);
      computed += chunk.tokens;
      ASSERT_EQ(chunk.last, computed == length);
      ASSERT_EQ(chunk.request.value, first_unfinished) << "first come, first served";
      if (chunk.last) ++first_unfinished;
    }
    ASSERT_LE(queue.predicted(), milliseconds(80));
  }
  EXPECT_GT(first_unfinished, 100u);
}

TEST(ChunkQueue, AWithdrawnRequestIsNotComputedFurther) {
  ChunkQueue queue(kCurve, milliseconds(50));
  queue.push(RequestId(1), 0, 100'000);
  queue.push(RequestId(2), 0, 1'000);
  (void)queue.next_step();
  EXPECT_TRUE(queue.withdraw(RequestId(1)));
  EXPECT_FALSE(queue.withdraw(RequestId(1)));
  EXPECT_EQ(queue.next_step().front().request, RequestId(2));
  EXPECT_TRUE(queue.next_step().empty());
  EXPECT_EQ(queue.predicted(), Duration());
}

}  // namespace
}  // namespace troupe
