// The closed form against QUEUEING.md: what-ifs W1 to W8, by their numbers there.
#include "tools/plan/capacity.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace troupe {
namespace {

constexpr double kPrompt = 77'000, kOutput = 800, kHit = 0.96;

RequestCost cost_at(double hit, double batch = 64) {
  return request_cost(PlanModel{}, kPrompt * (1 - hit), kOutput, batch, kPrompt);
}

TEST(Capacity, W1TheDecodeSideBounds512Gpus) {
  const RequestCost cost = cost_at(kHit);
  EXPECT_NEAR(256 / cost.prefill_gpu, 6825, 7);
  EXPECT_NEAR(256 / cost.decode_gpu, 5552, 6);
  EXPECT_NEAR(0.8 * 256 / cost.decode_gpu, 4441, 5);
}

TEST(Capacity, W2TheBestSplitOf512) {
  EXPECT_EQ(std::round(cost_at(kHit).best_prefill(512)), 230);
}

TEST(Capacity, W3ThePrefillSideBounds96Gpus) {
  const RequestCost cost = cost_at(kHit);
  EXPECT_NEAR(32 / cost.prefill_gpu, 853, 1);
  EXPECT_NEAR(0.8 * 32 / cost.prefill_gpu, 682, 1);
  EXPECT_GT(64 / cost.decode_gpu, 1380);
  EXPECT_EQ(std::round(cost.best_prefill(96)), 43);
}

TEST(Capacity, W4TheRatioFollowsTheHitRate) {
  struct Row {
    double hit, at32, at64, at128;
  };
  for (const Row& row :
       {Row{0, 11.39, 20.34, 30.09}, Row{0.5, 5.70, 10.17, 15.05}, Row{0.9, 1.14, 2.03, 3.01},
        Row{0.96, 0.46, 0.81, 1.20}, Row{0.98, 0.23, 0.41, 0.60}}) {
    EXPECT_NEAR(cost_at(row.hit, 32).ratio(), row.at32, 0.006 + row.at32 * 1e-3) << row.hit;
    EXPECT_NEAR(cost_at(row.hit, 64).ratio(), row.at64, 0.006 + row.at64 * 1e-3) << row.hit;
    EXPECT_NEAR(cost_at(row.hit, 128).ratio(), row.at128, 0.006 + row.at128 * 1e-3) << row.hit;
  }
}

TEST(Capacity, W5TheFirstTokenOfAnIdleSystem) {
  EXPECT_NEAR(prefill_step(PlanModel{}, kPrompt * (1 - kHit)) * 1e3, 55, 0.5);
}

TEST(Capacity, W6UserSpeedAndBatch) {
  const PlanModel model;
  EXPECT_NEAR(decode_point(model, 32, kPrompt).user_rate, 304, 1);
  EXPECT_NEAR(decode_point(model, 64, kPrompt).user_rate, 271, 1);
  EXPECT_NEAR(decode_point(model, 128, kPrompt).user_rate, 201, 1);
  // 230 to 300 tokens a second: 36 to about 96 requests a GPU.
  EXPECT_NEAR(*largest_batch(model, 300, kPrompt, 256), 36, 2);
  EXPECT_NEAR(*largest_batch(model, 230, kPrompt, 256), 98, 3);
  EXPECT_FALSE(largest_batch(model, 1000, kPrompt, 256));
}

TEST(Capacity, W7DraftsOfVaryingLengthAgainstFive) {
  const PlanModel model;
  constexpr double kContext = 131'072;
  // The model's values (CALIB.md, error table), which are within 0.9 points of the published ones.
  EXPECT_NEAR(draft_gain(model, 16, kContext) * 100, -1.51, 0.05);
  EXPECT_NEAR(draft_gain(model, 60, kContext) * 100, 5.36, 0.05);
  EXPECT_NEAR(draft_gain(model, 72, kContext) * 100, 7.53, 0.05);
  EXPECT_NEAR(draft_gain(model, 96, kContext) * 100, 10.23, 0.05);
}

TEST(Capacity, W8Ep8AgainstEp64) {
  PlanModel model;
  model.policy = Drafts::kFixed;
  constexpr double kContext = 131'072;
  // Five drafts give 3.30 tokens here (production), 3.29 in the plots that the rows are from.
  EXPECT_NEAR(decode_point(model, 64, kContext).gpu_rate, 15'713, 0.005 * 15'713);
  EXPECT_NEAR(decode_point(model, 8, kContext).gpu_rate, 2'600, 0.005 * 2'600);
  EXPECT_NEAR(decode_point(model, 256, kContext).gpu_rate, 26'272, 0.005 * 26'272);
  model.ep8 = true;
  EXPECT_NEAR(decode_point(model, 64, kContext).gpu_rate, 12'700, 0.005 * 12'700);
}

/// Seed 001's own arithmetic: it claims 1:1 from numbers that balance at 1:8.
TEST(Capacity, TheProofOf001DoesNotHold) {
  const double prefill = 32 / 0.05;             // nodes, seconds a request
  const double decode = 4 * 64 / (800 / 250.);  // supernodes, requests each, seconds a request
  EXPECT_DOUBLE_EQ(prefill, 640);
  EXPECT_DOUBLE_EQ(decode, 80);
}

TEST(Capacity, ChunksKeepTheirTime) {
  const PlanModel model;
  const double chunk = *largest_chunk(model, 0.25, 16'384);
  EXPECT_LE(1.5 * prefill_step(model, chunk), 0.25);
  EXPECT_GT(1.5 * prefill_step(model, chunk + 1), 0.25);
  EXPECT_EQ(*largest_chunk(model, 100, 16'384), 16'384);
  EXPECT_FALSE(largest_chunk(model, 0.03, 16'384));
}

TEST(Capacity, WithoutDraftsAStepGivesOneToken) {
  PlanModel model;
  model.policy = Drafts::kNone;
  const double step = decode_step(model, 64, 0, 1000);
  EXPECT_DOUBLE_EQ(decode_point(model, 64, 1000).gpu_rate, 64 / step);
}

}  // namespace
}  // namespace troupe
