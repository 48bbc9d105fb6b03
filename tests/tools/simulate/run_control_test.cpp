// Runs that are driven from the command line: commands, pauses, and that a run stays the same.
#include "tools/simulate/run_control.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tools/simulate/assembly.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {
namespace {

Scenario driven_scenario() {
  Scenario scenario;
  scenario.seed = 4;
  scenario.workload.request_rate = 50;
  scenario.workload.num_requests = 100;
  scenario.workload.isl = 1'000;
  scenario.workload.osl = 40;
  Fault kill;
  kill.at = milliseconds(700);
  scenario.faults = {kill};
  return scenario;
}

class RunControlTest : public testing::Test {
 protected:
  RunControlTest() : out(std::tmpfile()) {}
  ~RunControlTest() override { std::fclose(out); }

  Result<DrivenRun*> make() {
    SimulatedCluster::Options options;
    options.observer = [this](Time now, const Envelope& event) { last.see(now, event); };
    run.reset();
    TROUPE_TRY_ASSIGN(cluster, SimulatedCluster::make(driven_scenario(), std::move(options)));
    run = std::make_unique<DrivenCluster<SimulatedCluster>>(*cluster);
    return run.get();
  }
  Result<bool> drive(const RunControlFlags& flags, const std::string& commands = {}) {
    in.str(commands);
    auto control = RunControl::make(
        flags, [this] { return make(); }, last, in, out);
    if (!control.ok()) return control.error();
    return control->drive();
  }
  std::string said() {
    std::string text(1u << 20, '\0');
    std::rewind(out);
    text.resize(std::fread(text.data(), 1, text.size(), out));
    return text;
  }
  std::size_t lines() {
    const std::string text = said();
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  std::FILE* out;
  std::istringstream in;
  LastEvent last;
  std::unique_ptr<SimulatedCluster> cluster;
  std::unique_ptr<DrivenRun> run;
};

RunControlFlags stepping() {
  RunControlFlags flags;
  flags.step = true;
  return flags;
}

TEST(RunControlMoment, IsSecondsUnlessItSaysMore) {
  EXPECT_EQ(*parse_moment("12.5"), milliseconds(12'500));
  EXPECT_EQ(*parse_moment("12.5s"), milliseconds(12'500));
  EXPECT_EQ(*parse_moment("300ms"), milliseconds(300));
  for (const char* wrong : {"", "s", "-1", "5m", "1e30", "nan", "5 s"}) {
    EXPECT_FALSE(parse_moment(wrong).ok()) << wrong;
  }
}

TEST_F(RunControlTest, ARunIsTheSameWhetherOrNotItWasPaused) {
  ASSERT_TRUE(drive({}).value());
  const std::uint64_t plain = cluster->world().trace_hash();
  const std::uint64_t events = cluster->world().events();
  EXPECT_EQ(cluster->faults().kills(), 1u);
  EXPECT_EQ(said(), "") << "nobody asked";
  const auto whole = drive(
      stepping(), "step\nstep 200\nuntil 690ms\nstep 500\nshow\nback 100\nreplay 1s\nuntil 1.2\n");
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_TRUE(*whole) << "the end of the commands means: continue";
  EXPECT_EQ(cluster->world().trace_hash(), plain);
  EXPECT_EQ(cluster->world().events(), events);
  EXPECT_EQ(cluster->faults().kills(), 1u);
  const std::string text = said();
  EXPECT_NE(text.find("at 0.690000000 s: "), std::string::npos);
  EXPECT_NE(text.find("gateway"), std::string::npos);
  EXPECT_NE(text.find("submit_row{"), std::string::npos);
}

TEST_F(RunControlTest, StepsAndTimesBehindTheLoadsEndStopThere) {
  ASSERT_TRUE(drive({}).value());
  const std::uint64_t plain = cluster->world().trace_hash();
  const std::uint64_t events = cluster->world().events();
  for (const char* commands : {"step 1000000\n", "until 900\n", "step 100\nuntil 900\nstep 9\n"}) {
    ASSERT_TRUE(drive(stepping(), commands).value());
    EXPECT_EQ(cluster->world().trace_hash(), plain) << commands;
    EXPECT_EQ(cluster->world().events(), events) << commands;
  }
  EXPECT_NE(said().find("the load has ended"), std::string::npos);
}

TEST_F(RunControlTest, AStepIsOneEventAndBackUndoesIt) {
  ASSERT_FALSE(drive(stepping(), "step 10\nback 3\nquit\n").value());
  EXPECT_EQ(cluster->world().events(), 7u);
  EXPECT_EQ(lines(), 1u + 10u + 1u) << said();
}

TEST_F(RunControlTest, LeavesAtItsTime) {
  RunControlFlags flags;
  flags.run_until = "0.65s";
  ASSERT_FALSE(drive(flags).value());
  EXPECT_EQ(cluster->world().now(), Time() + milliseconds(650));
  EXPECT_EQ(cluster->faults().kills(), 0u);
  EXPECT_GT(cluster->traffic().started(), 10u);
}

TEST_F(RunControlTest, PausesAtItsTimeAndMayBeLeftThere) {
  RunControlFlags flags;
  flags.pause_at = "650ms";
  ASSERT_FALSE(drive(flags, "nonsense\nstep -1\nuntil 1ms\nuntil\n\nquit\n").value());
  EXPECT_EQ(cluster->world().now(), Time() + milliseconds(650));
  const std::string text = said();
  EXPECT_NE(text.find("no command is called nonsense; there are step [N]"), std::string::npos);
  EXPECT_NE(text.find("a number from 1 to 1000000 is expected, not -1"), std::string::npos);
  EXPECT_NE(text.find("that time is over"), std::string::npos);
  EXPECT_NE(text.find("a time such as 12.5s"), std::string::npos);
}

TEST_F(RunControlTest, TimesThatAreNoneAreErrors) {
  RunControlFlags flags;
  flags.run_until = "soon";
  const auto refused = drive(flags);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "--run-until: a time such as 12.5s or 300ms is expected, not soon");
}

TEST_F(RunControlTest, ProgressSaysWhatIsLeft) {
  RunControlFlags flags;
  flags.run_until = "1s";
  ASSERT_FALSE(drive(flags).value());
  const std::uint64_t ended = cluster->traffic().report().total();
  const std::string text = progress_text(*run, 2);
  EXPECT_NE(text.find("1.0 s virtual, " + std::to_string(ended) + " of 100 requests, 0.5x"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" s left"), std::string::npos) << text;
}

TEST(RunControlCluster, StepsThroughFaultsAndRules) {
  ClusterPlan plan;
  plan.prefill.engines = 2;
  plan.decode.ranks = 4;
  plan.workload.request_rate = 20;
  plan.workload.num_requests = 60;
  plan.workload.isl = 2'000;
  plan.workload.osl = 20;
  ClusterFault freeze;
  freeze.act = FaultAct::kFreeze;
  freeze.at = seconds(1);
  freeze.lasts = milliseconds(500);
  plan.faults = {freeze};
  const auto plain = PdCluster::make(plan, {}).value();
  ASSERT_TRUE(plain->run().ok());
  const auto stepped = PdCluster::make(plan, {}).value();
  while (!stepped->traffic().ended()) ASSERT_TRUE(stepped->step());
  // Up to where run() looks for the load's end.
  stepped->run_until(Time() + seconds((stepped->world().now() - Time()).value / 1'000'000'000 + 1));
  stepped->finish();
  EXPECT_EQ(stepped->world().trace_hash(), plain->world().trace_hash());
  EXPECT_EQ(stepped->faults().freezes, 1u);
  EXPECT_TRUE(stepped->broken_rules().empty()) << stepped->broken_rules().front();
}

}  // namespace
}  // namespace troupe
