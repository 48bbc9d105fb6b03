// Fault plans: what is read, what is refused with its place, and when things break.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/fault_schedule.hpp"

namespace troupe {
namespace {

Result<ClusterPlan> with_fault(const std::string& fault) {
  return parse_cluster_plan("decode: {instances: 3}\nfaults:\n  - {" + fault + "}\n", "x.yaml");
}

ClusterFault fault(const std::string& text) {
  const auto plan = with_fault(text);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return plan.ok() && plan->faults.size() == 1 ? plan->faults[0] : ClusterFault();
}

std::string refusal(const std::string& text) {
  const auto plan = with_fault(text);
  return plan.ok() ? "accepted" : plan.error().message;
}

TEST(FaultPlan, ReadsEveryKind) {
  EXPECT_EQ(fault("kill: decode_instance, at_ms: 5").act, FaultAct::kKill);
  EXPECT_EQ(fault("kill: gateway, at_ms: 5").act, FaultAct::kKillService);
  EXPECT_EQ(fault("kill: streams, every_ms: 500").service, FrontService::kStreams);
  const ClusterFault freeze = fault("freeze: prefill_engine, which: 2, at_ms: 5, until_ms: 9");
  EXPECT_EQ(freeze.act, FaultAct::kFreeze);
  EXPECT_EQ(freeze.lasts, milliseconds(4));
  EXPECT_EQ(freeze.which, 2u);
  EXPECT_EQ(fault("partition: decode_instance, at_ms: 5, until_ms: 9").act, FaultAct::kPartition);
  EXPECT_EQ(fault("slow: decode_instance, share: 0.5, until_ms: 9").act, FaultAct::kSlowGroup);
  EXPECT_EQ(fault("stall: storage_read, until_ms: 9").share, kStalledShare);
  const ClusterFault rated = fault("kill: prefill_engine, every_ms: 60000, until_ms: 500000");
  EXPECT_EQ(rated.every, seconds(60));
  EXPECT_EQ(rated.until, seconds(500));
  EXPECT_FALSE(rated.which) << "drawn each time";
  const ClusterFault drop = fault("drop: all, from: prefill_engine, to: front, share: 0.25");
  EXPECT_EQ(drop.act, FaultAct::kDrop);
  EXPECT_EQ(drop.from, FaultPlace::kPrefillEngine);
  EXPECT_EQ(drop.to, FaultPlace::kFront);
  EXPECT_FALSE(drop.lasts) << "for the whole run";
}

TEST(FaultPlan, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal("at_ms: 5"),
            "x.yaml:3: faults.kill: a fault has exactly one of kill, freeze, partition, slow, "
            "stall, drop");
  EXPECT_EQ(refusal("kill: prefill_engine, freeze: prefill_engine").substr(0, 24),
            "x.yaml:3: faults.kill: a");
  EXPECT_EQ(refusal("kill: streams"),
            "x.yaml:3: faults.kill: at_ms or every_ms is expected beside it");
  EXPECT_EQ(refusal("kill: decode_instance, every_ms: 9, from_ms: 9, until_ms: 9"),
            "x.yaml:3: faults.until_ms: a time after from_ms is expected");
  EXPECT_EQ(refusal("slow: decode_instance, share: 0.001, until_ms: 9"),
            "x.yaml:3: faults.share: a group keeps at least 0.01");
  EXPECT_EQ(refusal("kill: moon, at_ms: 5"),
            "x.yaml:3: faults.kill: prefill_engine, decode_instance, encoder_machine, gateway or "
            "streams is expected");
  EXPECT_EQ(refusal("kill: streams, which: 1, at_ms: 5"), "x.yaml:3: faults.which: the pool has 1");
  EXPECT_EQ(refusal("freeze: gateway, until_ms: 5"),
            "x.yaml:3: faults.freeze: prefill_engine, decode_instance or encoder_machine is "
            "expected");
  EXPECT_EQ(refusal("freeze: decode_instance, which: 3, until_ms: 5"),
            "x.yaml:3: faults.which: the pool has 3");
  EXPECT_EQ(refusal("kill: encoder_machine"), "x.yaml:3: faults.kill: the plan has none of these");
  EXPECT_EQ(refusal("slow: encoder_machine, share: 0.5, until_ms: 9"),
            "x.yaml:3: faults.slow: the plan has none of these");
  EXPECT_EQ(refusal("freeze: decode_instance, at_ms: 5, until_ms: 5"),
            "x.yaml:3: faults.until_ms: a time after at_ms is expected");
  EXPECT_EQ(refusal("stall: storage_read, every_ms: 500"),
            "x.yaml:3: faults.for_ms: how long each lasts, more than 0");
  EXPECT_EQ(refusal("kill: decode_instance, every_ms: 0"),
            "x.yaml:3: faults.every_ms: a mean gap of at least 1 is expected");
  EXPECT_EQ(refusal("drop: all"),
            "x.yaml:3: faults.share: which part of the messages is lost, from 0 to 1");
  EXPECT_EQ(refusal("drop: all, share: 1, to: moon"),
            "x.yaml:3: faults.to: front, prefill_engine, decode_instance or encoder_machine is "
            "expected");
  EXPECT_EQ(refusal("freeze: decode_instance, at_ms: 1, for_ms: 5"),
            "x.yaml:3: faults.for_ms: goes with every_ms; beside at_ms say until_ms");
  EXPECT_EQ(refusal("kill: decode_instance, at_ms: 1, for_ms: 5").substr(0, 36),
            "x.yaml:3: unknown key faults.for_ms;");
}

std::vector<FaultSchedule::Moment> moments(const std::string& text, std::uint64_t seed,
                                           std::vector<Time>& times, std::size_t most) {
  FaultSchedule schedule({fault(text)}, {5, 3, 100}, seed);
  std::vector<FaultSchedule::Moment> found;
  while (schedule.next() && found.size() < most) {
    times.push_back(*schedule.next());
    found.push_back(schedule.take());
  }
  return found;
}

TEST(FaultSchedule, OnceBeginsAndEndsAtItsTimes) {
  std::vector<Time> times;
  const auto found = moments("freeze: decode_instance, at_ms: 5, until_ms: 9", 1, times, 10);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].begins && !found[1].begins);
  EXPECT_EQ(times[0], Time() + milliseconds(5));
  EXPECT_EQ(times[1], Time() + milliseconds(9));
  EXPECT_EQ(found[0].which, found[1].which);
}

TEST(FaultSchedule, ByRateGapsAreExponentialAndVictimsAllOfThem) {
  std::vector<Time> times;
  const auto found = moments("kill: decode_instance, every_ms: 1000", 7, times, 4'000);
  ASSERT_EQ(found.size(), 4'000u);
  double sum = 0, squares = 0;
  std::vector<int> hits(3);
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double gap = (times[i] - times[i - 1]).seconds();
    sum += gap;
    squares += gap * gap;
    ++hits.at(found[i].which);
  }
  const double mean = sum / 3'999;
  // Of an exponential the deviation is the mean; 4 deviations of 4,000 draws are 6 %.
  EXPECT_NEAR(mean, 1, 0.065);
  EXPECT_NEAR(squares / 3'999 - mean * mean, 1, 0.2);
  for (const int count : hits) EXPECT_NEAR(count, 1'333, 130);
}

TEST(FaultSchedule, TheSeedDecidesAndTheWindowHolds) {
  const std::string text = "stall: nic, every_ms: 100, for_ms: 10, from_ms: 1000, until_ms: 3000";
  std::vector<Time> once, again, other;
  moments(text, 1, once, 1'000);
  moments(text, 1, again, 1'000);
  moments(text, 2, other, 1'000);
  EXPECT_EQ(once, again);
  EXPECT_NE(once, other);
  EXPECT_GT(once.size(), 20u);
  EXPECT_GT(once.front(), Time() + seconds(1));
  EXPECT_LE(once.back(), Time() + milliseconds(3'010));
}

}  // namespace
}  // namespace troupe
