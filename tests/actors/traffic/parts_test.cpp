#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>

#include "actors/traffic/chunk_counter.hpp"
#include "actors/traffic/prompt_maker.hpp"

namespace troupe {
namespace {

const std::string kStream =
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\r\n\r\n"
    ": a comment\n\n"
    "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"lo\"}}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7,"
    "\"prompt_tokens_details\":{\"cached_tokens\":3}}}\n\n"
    "data: [DONE]\n\n";

TEST(ChunkCounter, CountsDeltasWhereverTheBytesAreCut) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    ChunkCounter counter;
    const std::uint32_t tokens =
        counter.feed(kStream.substr(0, cut)) + counter.feed(kStream.substr(cut));
    EXPECT_EQ(tokens, 2u) << cut;
    EXPECT_EQ(counter.usage().output_tokens, 7u);
    EXPECT_EQ(counter.usage().prompt_tokens, 5u);
    EXPECT_EQ(counter.usage().cached_tokens, 3u);
    EXPECT_TRUE(counter.done());
    EXPECT_FALSE(counter.error());
  }
}

TEST(ChunkCounter, FindsErrorsAndSurvivesNoise) {
  ChunkCounter counter;
  EXPECT_EQ(counter.feed("data: {\"error\":{\"message\":\"x\"}}\n\ndata: {bro\n\ndata:\n"), 0u);
  EXPECT_EQ(counter.error(), "");
  EXPECT_EQ(counter.feed("data: {\"error\":{\"message\":\"x\",\"code\":\"lost\"}}\n\n"), 0u);
  EXPECT_EQ(counter.error(), "lost");
  EXPECT_EQ(counter.feed("data: " + std::string(ChunkCounter::kEventMax + 1, 'x') + "\n"), 1u);
}

TEST(Plan, ImpossiblePlansAreRefused) {
  TrafficPlan plan;
  plan.num_requests = 1;
  EXPECT_FALSE(check_plan(plan).ok());  // neither closed nor open
  plan.concurrency = 1;
  EXPECT_TRUE(check_plan(plan).ok());
  plan.num_requests = 0;
  EXPECT_FALSE(check_plan(plan).ok());  // endless
  plan.duration = seconds(1);
  EXPECT_TRUE(check_plan(plan).ok());
  plan.cancel_rate = 2;
  EXPECT_FALSE(check_plan(plan).ok());
}

TEST(ChunkCounter, KeepsTheContentIfAskedTo) {
  ChunkCounter keeps(true), forgets;
  keeps.feed(kStream);
  forgets.feed(kStream);
  EXPECT_EQ(keeps.take_text(), "Hel");  // not what was reasoned
  EXPECT_EQ(forgets.take_text(), "");
}

}  // namespace
}  // namespace troupe
