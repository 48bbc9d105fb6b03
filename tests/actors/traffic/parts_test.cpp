#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <map>

#include "actors/traffic/arrivals.hpp"
#include "actors/traffic/chunk_counter.hpp"
#include "actors/traffic/prompt_maker.hpp"

namespace troupe {
namespace {

const std::string kStream =
    "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\r\n\r\n"
    ": a comment\n\n"
    "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"lo\"}}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}\n\n"
    "data: [DONE]\n\n";

TEST(ChunkCounter, CountsDeltasWhereverTheBytesAreCut) {
  for (std::size_t cut = 0; cut <= kStream.size(); ++cut) {
    ChunkCounter counter;
    const std::uint32_t tokens =
        counter.feed(kStream.substr(0, cut)) + counter.feed(kStream.substr(cut));
    EXPECT_EQ(tokens, 2u) << cut;
    EXPECT_EQ(counter.usage_tokens(), 7u);
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

TEST(Arrivals, PoissonGapsHaveTheAskedRate) {
  TrafficPlan plan;
  plan.request_rate = 50;
  for (const double burstiness : {1.0, 0.5, 4.0}) {
    plan.burstiness = burstiness;
    Arrivals arrivals(plan);
    double sum = 0, squares = 0;
    constexpr int kCount = 20'000;
    for (int i = 0; i < kCount; ++i) {
      const double gap = arrivals.next_gap().seconds();
      sum += gap, squares += gap * gap;
    }
    const double mean = sum / kCount;
    EXPECT_NEAR(mean, 0.02, 0.001) << burstiness;
    // A gamma distribution's variance is mean² / shape.
    EXPECT_NEAR((squares / kCount - mean * mean) / (mean * mean), 1 / burstiness,
                0.15 / burstiness);
  }
}

TEST(Arrivals, ASpreadIsUniformWithinItsBounds) {
  TrafficPlan plan;
  plan.osl = 20;
  plan.osl_spread = 5;
  Arrivals arrivals(plan);
  std::map<std::uint32_t, int> seen;
  for (int i = 0; i < 11'000; ++i) ++seen[arrivals.next_draw().output_tokens];
  EXPECT_EQ(seen.size(), 11u);
  EXPECT_EQ(seen.begin()->first, 15u);
  for (const auto& [length, times] : seen) EXPECT_NEAR(times, 1000, 150) << length;
  plan.osl_spread = 50;
  Arrivals wide(plan);
  for (int i = 0; i < 1000; ++i) EXPECT_GE(wide.next_draw().output_tokens, 1u);
  plan.num_requests = plan.concurrency = 1;
  EXPECT_TRUE(check_plan(plan).ok());
  plan.osl_stddev = 1;
  EXPECT_FALSE(check_plan(plan).ok());
}

TEST(Arrivals, CancelsDoNotChangeLengths) {
  TrafficPlan plan;
  plan.isl_stddev = 100;
  TrafficPlan with_cancels = plan;
  with_cancels.cancel_rate = 0.3;
  with_cancels.cancel_delay_most = seconds(1);
  Arrivals a(plan), b(with_cancels);
  int cancels = 0;
  for (int i = 0; i < 1000; ++i) {
    const Draw one = a.next_draw(), other = b.next_draw();
    EXPECT_EQ(one.prompt_tokens, other.prompt_tokens);
    if (other.cancel_after) {
      ++cancels;
      EXPECT_LE(*other.cancel_after, seconds(1));
    }
  }
  EXPECT_NEAR(cancels, 300, 60);
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

TEST(ChatPrompts, MakeABodyOfAboutTheLength) {
  ChatPrompts prompts({.model = "m\"odel"});
  HttpArrived request;
  Draw draw;
  draw.prompt_tokens = 100;
  draw.output_tokens = 9;
  Rng rng(1);
  prompts.fill(request, draw, rng);
  rapidjson::Document body;
  body.Parse(request.body.c_str());
  ASSERT_FALSE(body.HasParseError());
  EXPECT_STREQ(body["model"].GetString(), "m\"odel");
  EXPECT_EQ(body["max_tokens"].GetInt(), 9);
  EXPECT_TRUE(body["ignore_eos"].GetBool());
  EXPECT_TRUE(body["stream_options"]["include_usage"].GetBool());
  const std::string text = body["messages"][0]["content"].GetString();
  EXPECT_NEAR(static_cast<double>(std::count(text.begin(), text.end(), ' ')), 87, 2);
}

}  // namespace
}  // namespace troupe
