// Plans of clusters: what they hold, and what is refused with its place.
#include "runtime/simulation/cluster_plan.hpp"

#include <gtest/gtest.h>

#include <string>

namespace troupe {
namespace {

std::string problem(const char* text) {
  const auto plan = parse_cluster_plan(text, "x.yaml");
  return plan.ok() ? "accepted" : plan.error().message;
}

TEST(ClusterPlan, ReadsPoolsConstantsAndLoad) {
  const auto plan = parse_cluster_plan(R"(
name: small
prefill: {engines: 3, ranks: 2, step_budget_ms: 100}
decode: {instances: 2, ranks: 8, rows_most: 32, drafts: fixed}
encoders: {machines: 3, gpus: 4, patch: 16}
constants:
  prefill_b_us: 11
  decode_t0_ms: {value: 12, source: measured here}
workload: {request_rate: 5, isl: 1000, cached_share: 0.5, image_share: 0.25, images: 2,
           image_size: 64x48}
faults:
  - {at_ms: 10, kill: decode_instance, which: 1}
  - {at_ms: 10, until_ms: 20, slow: nic, which: 21, share: 0.25}
  - {at_ms: 20, kill: encoder_machine, which: 2}
)",
                                       "x.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->gpus(), 34u);
  EXPECT_EQ(plan->encoders.machines, 3u);
  EXPECT_EQ(plan->encoders.patch, 16u);
  EXPECT_EQ(plan->workload.image_share, 0.25);
  EXPECT_EQ(plan->workload.images, 2u);
  EXPECT_EQ(plan->workload.image_size, "64x48");
  EXPECT_EQ(plan->prefill.step_budget, milliseconds(100));
  EXPECT_EQ(plan->constant("prefill_b_us"), 11);
  EXPECT_EQ(plan->constant("decode_t0_ms"), 12);
  EXPECT_EQ(plan->prefix.cached_share, 0.5);
  EXPECT_EQ(plan->workload.isl, 1000u);
  ASSERT_EQ(plan->faults.size(), 3u);
  EXPECT_EQ(plan->faults[2].group, GroupKind::kEncoderMachine);
  EXPECT_EQ(plan->faults[0].act, FaultAct::kKill);
  EXPECT_EQ(plan->faults[0].group, GroupKind::kDecodeInstance);
  EXPECT_EQ(plan->faults[1].which, 21u);
  EXPECT_EQ(plan->faults[1].share, 0.25);
  EXPECT_EQ(plan->faults[1].lasts, milliseconds(10));
  std::string all;
  for (const auto& line : plan->describe()) all += line + "\n";
  EXPECT_NE(all.find("prefill_b_us = 11 us a token; set by x.yaml"), std::string::npos);
  EXPECT_NE(all.find("decode_t0_ms = 12 ms a step; measured here"), std::string::npos);
  EXPECT_NE(all.find("encoder_patch_us = 1.1 us a patch; assumed"), std::string::npos);
  for (const auto& line : ClusterPlan().describe()) {
    EXPECT_FALSE(line.starts_with("encoder_")) << "there are none: " << line;
  }
}

TEST(ClusterPlan, AnotherGpuScalesWhatItsSheetSaysAndMarksTheRest) {
  const auto plan = parse_cluster_plan("hardware: H200\nprefill: {}\n", "x.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_NEAR(plan->constant("decode_k_ms"), 0.01468 * 8 / 4.8, 1e-5);
  std::string all;
  for (const auto& line : plan->describe()) all += line + "\n";
  EXPECT_NE(all.find("prefill_a_ms = 21.97 ms a step; EXTRAPOLATED"), std::string::npos);
  const auto own = parse_cluster_plan(
      "hardware: {name: mine, hbm_gb: 64, hbm_tb_s: 1.6, nic_gb_s: 25}\nprefill: {}\n", "x.yaml");
  ASSERT_TRUE(own.ok()) << own.error().message;
  EXPECT_EQ(own->constant("nic_gb_s"), 25);
}

TEST(ClusterPlan, StepTimesOfAnAscendAreNotInvented) {
  const auto refused = parse_cluster_plan("hardware: Ascend 950\nprefill: {}\n", "x.yaml");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "x.yaml: hardware: no source says how long steps of an Ascend 950 take; measure them "
            "and give in constants: prefill_a_ms prefill_b_us decode_t0_ms decode_p1_us "
            "decode_p2_us decode_knee");
  const auto plan = parse_cluster_plan(
      "hardware: Ascend 950\nconstants: {prefill_a_ms: 30, prefill_b_us: 20, decode_t0_ms: 12, "
      "decode_p1_us: 8, decode_p2_us: 20, decode_knee: 200}\n",
      "x.yaml");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_NEAR(plan->constant("decode_k_ms"), 0.01468 * 8 / 3.8, 1e-5);
  for (const auto& line : plan->describe()) {
    if (line.starts_with("prefill_a_ms")) {
      EXPECT_EQ(line, "prefill_a_ms = 30 ms a step; set by x.yaml");
    }
  }
}

TEST(ClusterPlan, WrongFilesAreRefusedWithTheirPlace) {
  EXPECT_EQ(problem("prefill: {}\nprefil: {}\n").substr(0, 37),
            "x.yaml:2: unknown key cluster.prefil;");
  EXPECT_EQ(problem("prefill:\n  engines: 0\n"),
            "x.yaml:2: prefill.engines: a number from 1 to 1048576 is expected");
  EXPECT_EQ(problem("workload:\n  isl: 5\n  osl: 5\n  isl: 6\n"),
            "x.yaml:4: workload.isl is there twice");
  EXPECT_EQ(problem("constants:\n  prefill_c: 1\n").substr(0, 43),
            "x.yaml:2: unknown key constants.prefill_c; ");
  EXPECT_NE(problem("expect: {failed: 0}\n").find("; known: ok_min failed_min failed_max "),
            std::string::npos);
  EXPECT_EQ(problem("constants: {nic_gb_s: {source: me}}\n"),
            "x.yaml:1: constants.nic_gb_s.value: a number is expected");
  EXPECT_EQ(problem("hardware: H900\n").substr(0, 48),
            "x.yaml:1: hardware: there is no H900; these are ");
  EXPECT_EQ(problem("faults: [{freeze: gateway}]\n"),
            "x.yaml:1: faults.freeze: prefill_engine, decode_instance or encoder_machine is "
            "expected");
  EXPECT_EQ(problem("faults: [{at_ms: 1, kill: decode_instance, which: 1}]\n"),
            "x.yaml:1: faults.which: the pool has 1");
  EXPECT_EQ(problem("faults: [{slow: nic, share: 0.5}]\n"),
            "x.yaml:1: faults.until_ms: a time after at_ms is expected");
  EXPECT_EQ(problem("faults: [{slow: disk, until_ms: 5, share: 1}]\n"),
            "x.yaml:1: faults.slow: nic, spine, storage_read, storage_write, prefill_engine, "
            "decode_instance or encoder_machine is expected");
  EXPECT_EQ(problem("faults: [{slow: spine, until_ms: 5}]\n"),
            "x.yaml:1: faults.share: which part of the speed is left, up to 1");
  EXPECT_EQ(problem("prefill: {step_budget_ms: 0}\n"),
            "x.yaml:1: prefill.step_budget_ms: more than 0 is expected");
  EXPECT_EQ(problem("workload: {cached_share: 2}\n").substr(0, 31),
            "x.yaml:1: workload.cached_share");
}

TEST(ClusterPlan, ConstantsThatNoClusterCanHaveAreRefused) {
  const auto constant = [](const std::string& one) {
    return problem(("constants: {" + one + "}\n").c_str());
  };
  // Links that carry nothing, and steps that take no time or longer than a time can tell.
  for (const char* name : {"nic_gb_s", "storage_read_gib_s", "storage_write_gib_s", "storage_mops",
                           "kv_token_bytes", "decode_efficiency"}) {
    EXPECT_NE(constant(std::string(name) + ": 0"), "accepted") << name;
    EXPECT_NE(constant(std::string(name) + ": {value: 1e-30}"), "accepted") << name;
  }
  for (const char* name : {"prefill_a_ms", "prefill_b_us", "prefill_g", "decode_k_ms",
                           "decode_extra_ms", "storage_access_us", "start_up_s"}) {
    EXPECT_EQ(constant(std::string(name) + ": 0"), "accepted") << name;
    EXPECT_NE(constant(std::string(name) + ": 1e15"), "accepted") << name;
  }
  for (const char* name : {"draft_chance", "draft_overhead", "window_miss", "decode_efficiency"}) {
    EXPECT_NE(constant(std::string(name) + ": 1.01"), "accepted") << name;
  }
  EXPECT_EQ(constant("spine_gb_s: 0"), "accepted") << "full bisection";
  EXPECT_EQ(constant("spine_gb_s: 1e-30"),
            "x.yaml:1: constants.spine_gb_s: 0 (full bisection), or at least 0.001, is expected");
}

TEST(ClusterPlan, EveryConstantMayBeSetToItsDefault) {
  for (const PlanConstant& one : ClusterPlan().constants) {
    const std::string text = "constants: {" + one.name + ": " + std::to_string(one.value) + "}\n";
    EXPECT_EQ(problem(text.c_str()), "accepted") << text;
  }
}

TEST(ClusterPlan, IsToldFromANodesConfiguration) {
  EXPECT_TRUE(is_cluster_plan("prefill: {engines: 1}\n"));
  EXPECT_TRUE(is_cluster_plan("prefil: {engines: 1}\nworkload: {isl: 100}\n"));
  EXPECT_FALSE(is_cluster_plan("node: {port: 8000}\n"));
  EXPECT_FALSE(is_cluster_plan("a: [\n"));
}

}  // namespace
}  // namespace troupe
