// Images in a cluster: prompts with them, encoders that take their time, machines that are lost.
#include <gtest/gtest.h>

#include "tools/simulate/pd_cluster.hpp"
#include "tools/simulate/pd_prompts.hpp"
#include "tools/simulate/pd_recorder.hpp"
#include "tools/simulate/pd_report.hpp"
#if TROUPE_WITH_CAF
#include "runtime/actor/caf_world.hpp"
#endif

namespace troupe {
namespace {

/// Every other request has an image of 36 x 27 tokens, 27 more and 2: 1,001, of 8,748 patches.
ClusterPlan plan_with_images(std::uint64_t seed) {
  ClusterPlan plan;
  plan.seed = seed;
  plan.prefill = {3, 2};
  plan.decode.instances = 2;
  plan.decode.ranks = 4;
  plan.decode.rows_most = 16;
  plan.encoders = {2, 4};
  plan.prefix.cached_share = 0.9;
  plan.workload.request_rate = 60;
  plan.workload.num_requests = 400;
  plan.workload.isl = 20'000;
  plan.workload.osl = 100;
  plan.workload.image_share = 0.5;
  plan.workload.image_size = "1512x1134";
  return plan;
}

std::unique_ptr<PdCluster> run_images(const ClusterPlan& plan, PdCluster::Options options = {}) {
  auto made = PdCluster::make(plan, std::move(options));
  EXPECT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE((*made)->run().ok());
  for (const auto& rule : (*made)->broken_rules()) ADD_FAILURE() << rule;
  return std::move(made).value();
}

PlannedRequest planned() {
  PlannedRequest request;
  request.prompt = {{1, 500, PieceRole::kSystem}, {2, 300, PieceRole::kUser}};
  request.output_tokens = 40;
  request.answer = 3;
  request.images = {{7, 42, 42}, {8, 84, 42}};  // 4 tokens and 5
  return request;
}

const SimulatedWork& work_of(const HttpArrived& arrived) {
  return arrived.simulated->sealed.work;
}

TEST(ImagePrompts, ImagesStandBeforeTheUsersWords) {
  const PdPrompts prompts = PdPrompts::with_chains(128).with_patches(14);
  HttpArrived arrived;
  prompts.fill(arrived, planned(), {});
  EXPECT_EQ(arrived.simulated->prompt_tokens, 809u);
  EXPECT_EQ(prompts.tokens(planned()), 809u);
  const SimulatedWork& work = work_of(arrived);
  ASSERT_EQ(work.images().size(), 2u);
  EXPECT_EQ(work.images()[0].end, 504u);
  EXPECT_EQ(work.images()[1].end, 509u);
  EXPECT_EQ(work.images()[1].width, 84u);
  EXPECT_EQ(work.chain().size(), (809u + 40) / 128);
  // Another image changes the blocks from its own on, a text alone all that follow.
  PlannedRequest other = planned();
  other.images[1].content = 9;
  HttpArrived differs;
  prompts.fill(differs, other, {});
  EXPECT_EQ(work_of(differs).chain()[2], work.chain()[2]);
  EXPECT_NE(work_of(differs).chain()[3], work.chain()[3]);
}

TEST(ImagePrompts, WhereAShareIsCachedImagesAreNew) {
  HttpArrived arrived;
  PdPrompts(0.5).with_patches(14).fill(arrived, planned(), {});
  EXPECT_EQ(arrived.simulated->sealed.work.cached, 400u) << "of the words";
  EXPECT_EQ(work_of(arrived).images()[0].end, 809u);
  HttpArrived words;
  PlannedRequest without = planned();
  without.images.clear();
  PdPrompts(0.5).with_patches(14).fill(words, without, {});
  EXPECT_EQ(words.simulated->prompt_tokens, 800u);
  EXPECT_TRUE(words.simulated->sealed.work.images().empty());
}

TEST(PdImages, EncodingTakesItsTimeAndItsTokens) {
  ClusterPlan plan = plan_with_images(2);
  plan.workload.image_share = 1;
  plan.workload.request_rate = 10;
  const auto with = run_images(plan);
  const TrafficReport& report = with->traffic().report();
  EXPECT_EQ(report.count(Outcome::kOk), 400u);
  EXPECT_EQ(report.input_tokens(), 400u * 21'001);
  EXPECT_EQ(with->images_encoded(), 400u);
  // 1 ms and 8,748 patches of 1.1 us each; the balancer keeps them apart.
  const Histogram* wait = with->notes().observed("troupe_image_wait_seconds");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->count(), 400u);
  EXPECT_NEAR(wait->percentile(50), 0.001 + 8'748 * 1.1e-6, 0.0005);
  EXPECT_NEAR(with->encoder_use().tokens, 400 * 8'748.0, 1);
  plan.workload.image_share = 0;
  const auto without = run_images(plan);
  const double later = report.ttft.mean() - without->traffic().report().ttft.mean();
  // What is encoded, less the fetch beside it, and the tokens that are computed.
  EXPECT_GT(later, 0.009);
  EXPECT_LT(later, 0.05);
  EXPECT_EQ(without->images_encoded(), 0u);
}

TEST(PdImages, TwiceThePatchesOfAFullPoolMakeAQueue) {
  ClusterPlan plan = plan_with_images(2);
  plan.encoders = {1, 1};
  plan.workload.image_share = 1;
  plan.workload.images = 2;  // 21.2 ms a request at 60 a second: more than one GPU has
  const auto cluster = run_images(plan);
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 400u);
  const double span = cluster->traffic().report().duration().seconds();
  EXPECT_GT(cluster->encoder_use().busy / span, 0.9);
  EXPECT_GT(cluster->traffic().report().ttft.percentile(99), 1);
}

TEST(PdImages, LaterTurnsFindTheirImagesInTheStore) {
  ClusterPlan plan = plan_with_images(4);
  plan.set_constant("window_miss", 0, "test");
  TrafficPlan load;
  load.concurrency = 8;
  load.num_requests = 200;
  load.isl = 2'000;
  load.turn_isl = 500;
  load.osl = 50;
  load.turns = 4;
  load.think = 0.5;
  load.image_share = 1;
  load.images = 1;
  load.image_sizes = {{1'512, 1'134}};
  PdCluster::Options options;
  options.load = load;
  const auto cluster = run_images(plan, std::move(options));
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 200u);
  // A session's first turn computes its image, the others have its KV.
  EXPECT_GE(cluster->images_encoded(), 50u);
  EXPECT_LE(cluster->images_encoded(), 60u);
}

TEST(PdImages, AnEncoderMachineThatDiesLosesNothing) {
  std::uint64_t again = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    ClusterPlan plan = plan_with_images(seed);
    plan.explore_ties = seed % 2 == 1;
    plan.set_constant("start_up_s", 1, "test");
    plan.set_constant("encoder_patch_us", 20, "test");
    plan.workload.cancel_rate = 0.1;
    plan.workload.cancel_delay_most = milliseconds(300);
    ClusterFault fault;
    fault.group = GroupKind::kEncoderMachine;
    fault.which = 0;
    fault.at = milliseconds(1'500);
    plan.faults = {fault};
    fault.group = GroupKind::kPrefillEngine;
    fault.at = milliseconds(2'500);
    plan.faults.push_back(fault);
    PdCluster::Options options;
    options.sweep_every_event = true;
    const auto cluster = run_images(plan, std::move(options));
    EXPECT_EQ(cluster->faults().groups_killed, 2u);
    EXPECT_EQ(cluster->traffic().report().total(), 400u);
    EXPECT_EQ(cluster->traffic().report().count(Outcome::kFailed), 0u);
    again +=
        static_cast<std::uint64_t>(cluster->notes().counted("troupe_images_encoded_again_total"));
  }
  EXPECT_GT(again, 4u);
}

TEST(PdImages, WithoutAnyEncoderImagesFailInTheirTime) {
  ClusterPlan plan = plan_with_images(2);
  plan.encoders = {1, 2};
  plan.set_constant("start_up_s", 100, "test");
  plan.request_timeout = seconds(5);
  ClusterFault fault;
  fault.group = GroupKind::kEncoderMachine;
  fault.at = milliseconds(1'000);
  plan.faults = {fault};
  const auto cluster = run_images(plan);
  const TrafficReport& report = cluster->traffic().report();
  EXPECT_EQ(report.total(), 400u);
  EXPECT_GT(report.count(Outcome::kFailed), 100u);
  EXPECT_GT(report.count(Outcome::kOk), 200u) << "the others go on";
}

#if TROUPE_WITH_CAF
TEST(PdImages, BothDriversCarryOutTheSameEvents) {
  ClusterPlan plan = plan_with_images(3);
  plan.set_constant("start_up_s", 1, "test");
  ClusterFault fault;
  fault.group = GroupKind::kEncoderMachine;
  fault.at = milliseconds(1'500);
  plan.faults = {fault};
  const auto heap = run_images(plan);
  PdCluster::Options hosted;
  hosted.make_world = [](WorldOptions options) -> std::unique_ptr<World> {
    return std::make_unique<CafWorld>(std::move(options));
  };
  const auto caf = run_images(plan, std::move(hosted));
  EXPECT_EQ(caf->world().trace_hash(), heap->world().trace_hash());
  EXPECT_EQ(caf->world().events(), heap->world().events());
}
#endif

TEST(PdImages, AreRefusedWhereNobodyEncodesThem) {
  ClusterPlan plan = plan_with_images(1);
  plan.encoders.machines = 0;
  const auto made = PdCluster::make(plan, {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("encoders: {machines: 1}"), std::string::npos);
  plan = plan_with_images(1);
  plan.workload.image_size = "big";
  const auto unknown = PdCluster::make(plan, {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("big"), std::string::npos);
}

TEST(PdImages, ShowInReportAndTimelines) {
  PdRecorder recorder(RequestTimelines::Limits{24, 400}, true);
  PdCluster::Options options;
  recorder.watch(options);
  const auto cluster = run_images(plan_with_images(2), std::move(options));
  std::size_t encoded = 0;
  for (const RequestTimeline& one : recorder.timelines().first()) {
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      if (one.parts[i].phase != RequestPhase::kEncode) continue;
      ++encoded;
      EXPECT_EQ(one.prompt_tokens, 21'001u);
      ASSERT_LT(i + 1, one.parts.size());
      EXPECT_EQ(one.parts[i + 1].phase, RequestPhase::kPrefill);
      EXPECT_GT(one.parts[i + 1].begin - one.parts[i].begin, milliseconds(10));
    }
  }
  EXPECT_EQ(encoded, cluster->images_encoded());
  EXPECT_GT(encoded, 150u);
  const auto& charts = recorder.series().charts();
  ASSERT_EQ(charts.back().title, "Encoders");
  double most = 0;
  for (const double one : charts.back().points[0]) most = std::max(most, one);
  EXPECT_GT(most, 0.01);
  const std::string text = vllm_block(cluster->traffic().report(), pd_lines(*cluster));
  for (const char* word :
       {"Encoder utilisation", "Images encoded", "Waiting for images P99", "encoder_patch_us"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word;
  }
  EXPECT_NE(shape_text(cluster->plan()).find(", 2 encoder machine(s) of 4: 22 GPUs"),
            std::string::npos);
}

}  // namespace
}  // namespace troupe
