#include "actors/load/synthetic_source.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "actors/load/trace_source.hpp"

namespace troupe {
namespace {

Distribution distribution_of(const std::string& text, double least = 1) {
  return Distribution::parse(text, least).value();
}

PlannedRequest next_of(RequestSource& source) {
  auto next = source.next();
  EXPECT_TRUE(next.ok() && next->has_value());
  return **next;
}

LoadPlan session_plan() {
  LoadPlan plan;
  plan.request_rate = 10;
  plan.burstiness = 0.5;
  plan.isl = distribution_of("lognormal:300:0.8");
  plan.osl = distribution_of("uniform:20:60");
  plan.turns = distribution_of("uniform:1:5");
  plan.turn_isl = 30;
  plan.think = distribution_of("exponential:4", 0);
  plan.prefix_groups = 4;
  plan.prefix_len = 640;
  plan.prefix_skew = 1;
  plan.cancel_rate = 0.2;
  plan.cancel_delay_most = seconds(1);
  plan.image_share = 0.3;
  plan.image_sizes = {{64, 48}, {32, 32}};
  plan.images = distribution_of("uniform:1:3");
  return plan;
}

/// All turns of the first `count` sessions; every session is walked to its end at once.
std::vector<PlannedRequest> walked(const LoadPlan& plan, int count) {
  SyntheticSource source(plan);
  std::vector<PlannedRequest> all;
  for (int i = 0; i < count; ++i) {
    std::optional<PlannedRequest> request = next_of(source);
    for (; request; request = source.after(*request)) all.push_back(*request);
  }
  return all;
}

TEST(SyntheticSource, TheSameSeedMakesTheSameRequestsInWhateverOrderSessionsGoOn) {
  const LoadPlan plan = session_plan();
  const auto depth_first = walked(plan, 50);
  EXPECT_EQ(depth_first, walked(plan, 50));
  // The other order: all first turns, then all second ones, …
  SyntheticSource source(plan);
  std::vector<PlannedRequest> level;
  for (int i = 0; i < 50; ++i) level.push_back(next_of(source));
  std::size_t seen = 0;
  while (!level.empty()) {
    std::vector<PlannedRequest> deeper;
    for (const PlannedRequest& request : level) {
      ++seen;
      EXPECT_NE(std::find(depth_first.begin(), depth_first.end(), request), depth_first.end());
      if (auto more = source.after(request)) deeper.push_back(std::move(*more));
    }
    level = std::move(deeper);
  }
  EXPECT_EQ(seen, depth_first.size());
  LoadPlan other = plan;
  other.seed = 2;
  EXPECT_NE(depth_first, walked(other, 50));
}

TEST(SyntheticSource, ATurnsPromptIsAllThatWasSaidAndSomethingNew) {
  std::map<std::uint64_t, PlannedRequest> before;
  std::set<std::uint32_t> turns;
  for (const PlannedRequest& request : walked(session_plan(), 200)) {
    EXPECT_EQ(request.prompt.front().role, PieceRole::kSystem);
    EXPECT_EQ(request.prompt.front().tokens, 640u);
    if (request.turn > 0) {
      const PlannedRequest& last = before.at(request.session);
      EXPECT_EQ(request.turn, last.turn + 1);
      ASSERT_EQ(request.prompt.size(), last.prompt.size() + 2);
      EXPECT_TRUE(std::equal(last.prompt.begin(), last.prompt.end(), request.prompt.begin()));
      EXPECT_EQ(request.prompt[last.prompt.size()].role, PieceRole::kAssistant);
      EXPECT_EQ(request.prompt[last.prompt.size()].tokens, last.output_tokens);
      EXPECT_EQ(request.prompt.back().tokens, 30u);
      EXPECT_FALSE(last.last_turn);
    }
    if (request.last_turn) turns.insert(request.turn + 1);
    before[request.session] = request;
  }
  EXPECT_EQ(turns, (std::set<std::uint32_t>{1, 2, 3, 4, 5}));
}

TEST(SyntheticSource, GroupsSharePrefixesAndNothingElse) {
  std::map<std::uint64_t, int> first_blocks;
  std::map<std::uint64_t, int> sixth_blocks;
  SyntheticSource source(session_plan());
  for (int i = 0; i < 1000; ++i) {
    const auto chain = block_chain(next_of(source).prompt, 128);
    ASSERT_GE(chain.size(), 5u);
    ++first_blocks[chain[4]];  // the fifth block of 128 tokens ends with the prefix
    if (chain.size() > 5) ++sixth_blocks[chain[5]];
  }
  ASSERT_EQ(first_blocks.size(), 4u);
  int most = 0, least = 1000;
  for (const auto& [hash, times] : first_blocks)
    most = std::max(most, times), least = std::min(least, times);
  EXPECT_NEAR(most, 480, 60);   // 12/25 of them
  EXPECT_NEAR(least, 120, 40);  // 3/25
  for (const auto& [hash, times] : sixth_blocks) EXPECT_EQ(times, 1);
}

TEST(SyntheticSource, CancelsDoNotChangeLengthsAndArrivals) {
  LoadPlan with = session_plan(), without = session_plan();
  without.cancel_rate = 0;
  SyntheticSource a(with), b(without);
  int cancels = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto one = next_of(a), other = next_of(b);
    EXPECT_EQ(one.prompt, other.prompt);
    EXPECT_EQ(one.at, other.at);
    if (one.cancel_after) {
      ++cancels;
      EXPECT_LE(*one.cancel_after, seconds(1));
    }
  }
  EXPECT_NEAR(cancels, 200, 50);
}

TEST(SyntheticSource, ImagesBelongToTheirShareOfSessions) {
  int with = 0;
  for (const PlannedRequest& request : walked(session_plan(), 500)) {
    if (request.turn == 0 && !request.images.empty()) ++with;
    EXPECT_LE(request.images.size(), 3u);
    for (const PromptImage& image : request.images)
      EXPECT_TRUE(image.width == 64 || image.width == 32);
  }
  EXPECT_NEAR(with, 150, 40);
}

TEST(SyntheticSource, AContextsEndEndsTheSession) {
  LoadPlan plan;
  plan.request_rate = 1;
  plan.isl = 100;
  plan.osl = 50;
  plan.turns = 100;
  plan.context_max = 600;
  std::uint32_t last = 0;
  for (const PlannedRequest& request : walked(plan, 1)) {
    EXPECT_LE(tokens_of(request.prompt) + request.output_tokens, 600u);
    last = request.turn;
  }
  EXPECT_EQ(last, 3u);  // 150 tokens a turn
}

TEST(SyntheticSource, PhasesEndTheLoad) {
  LoadPlan plan;
  plan.phases = {parse_phase("10:5").value()};
  SyntheticSource source(plan);
  int count = 0;
  Duration last;
  for (auto next = source.next().value(); next; next = source.next().value()) {
    EXPECT_GE(next->at, last);
    last = next->at;
    ++count;
  }
  EXPECT_NEAR(count, 50, 25);
  EXPECT_LE(last, seconds(10));
}

TEST(SyntheticSource, WithoutARateItHasNoTimes) {
  LoadPlan plan;
  SyntheticSource source(plan);
  EXPECT_FALSE(source.timed());
  EXPECT_EQ(next_of(source).at, Duration());
}

TEST(LoadPlan, ImpossibleLoadsAreRefused) {
  auto refused = [](auto change) {
    LoadPlan plan;
    change(plan);
    return !check_load(plan).ok();
  };
  EXPECT_FALSE(refused([](LoadPlan&) {}));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.request_rate = -1; }));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.burstiness = 0; }));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.cancel_rate = 2; }));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.prefix_groups = 2; }));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.prefix_len = 2; }));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.image_share = 0.5; }));
  EXPECT_TRUE(refused([](LoadPlan& p) { p.trace.speed = 0; }));
  EXPECT_TRUE(refused([](LoadPlan& p) {
    p.request_rate = 1;
    p.phases = {parse_phase("1:1").value()};
  }));
}

TEST(PixelSizes, AreReadOrRefusedAsAWhole) {
  const auto sizes = parse_pixel_sizes("1024x768,512x16384");
  ASSERT_TRUE(sizes.ok());
  ASSERT_EQ(sizes->size(), 2u);
  EXPECT_EQ((*sizes)[1].width, 512u);
  EXPECT_EQ((*sizes)[1].height, 16'384u);
  for (const char* text : {"", "12", "12x", "x12", "0x5", "5x16385", "1x2,", "1x2,,3x4", "1 x2",
                           "1x2x3", "-1x2", "99999999999x1"}) {
    EXPECT_FALSE(parse_pixel_sizes(text).ok()) << text;
  }
}

}  // namespace
}  // namespace troupe
