#include "tools/traffic/load_options.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tools/cli/cli.hpp"

namespace troupe {
namespace {

/// The plan that a command line makes.
Result<TrafficPlan> plan_of(std::vector<std::string> words) {
  cli::Program program("test", "about");
  cli::Command command = program.root().command("load", "about");
  const LoadOptions options(command);
  Result<TrafficPlan> plan = Error{Code::kInternal, "not run"};
  command.run([&] {
    plan = options.plan();
    return cli::kOk;
  });
  words.insert(words.begin(), {"test", "load"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto code = program.run(static_cast<int>(argv.size()), argv.data());
  if (!code.ok()) return code.error();
  return plan;
}

Result<TrafficPlan> file_plan(const std::string& text) {
  TrafficPlan plan;
  TROUPE_TRY(take_load_file("load.yaml", text, plan));
  return plan;
}

std::string error_of(const Result<TrafficPlan>& plan) {
  return plan.ok() ? "" : plan.error().message;
}

TEST(LoadOptions, WithoutFlagsOneUserAsksAHundredTimes) {
  const auto plan = plan_of({});
  ASSERT_TRUE(plan.ok()) << error_of(plan);
  EXPECT_EQ(plan->concurrency, 1u);
  EXPECT_EQ(plan->num_requests, 100u);
  EXPECT_TRUE(plan->isl.is_always(512));
  EXPECT_TRUE(plan->osl.is_always(128));
}

TEST(LoadOptions, TakesAllFlags) {
  const auto plan = plan_of({"--phase",
                             "60:5",
                             "--phase",
                             "60:5..50",
                             "--burstiness",
                             "0.3",
                             "--isl",
                             "lognormal:2000:1",
                             "--osl",
                             "uniform:10:20",
                             "--turns",
                             "zipf:1:8:1",
                             "--turn-isl",
                             "40",
                             "--think-time",
                             "exponential:10",
                             "--prefix-groups",
                             "20",
                             "--prefix-len",
                             "4000",
                             "--prefix-skew",
                             "1.1",
                             "--tools",
                             "3",
                             "--image-share",
                             "0.1",
                             "--image-size",
                             "64x48,32x32",
                             "--cancel-rate",
                             "0.2",
                             "--cancel-delay",
                             "250ms",
                             "--cancel-delay-most",
                             "2",
                             "--timeout",
                             "1m",
                             "--goodput",
                             "ttft:450 tpot:5",
                             "--seed",
                             "9",
                             "--max-context",
                             "131072",
                             "--warmup",
                             "4"});
  ASSERT_TRUE(plan.ok()) << error_of(plan);
  ASSERT_EQ(plan->phases.size(), 2u);
  EXPECT_EQ(plan->phases[1].to, 50);
  EXPECT_EQ(plan->num_requests, 0u);  // the phases are the end
  EXPECT_EQ(plan->concurrency, 0u);
  EXPECT_EQ(plan->isl.text(), "lognormal:2000:1");
  EXPECT_EQ(plan->turns.text(), "zipf:1:8:1");
  EXPECT_EQ(plan->think.text(), "exponential:10");
  EXPECT_EQ(plan->prefix_groups, 20u);
  ASSERT_EQ(plan->image_sizes.size(), 2u);
  EXPECT_EQ(plan->image_sizes[0].height, 48u);
  EXPECT_EQ(plan->cancel_delay, milliseconds(250));
  EXPECT_EQ(plan->cancel_delay_most, seconds(2));
  EXPECT_EQ(plan->timeout, seconds(60));
  EXPECT_EQ(plan->slo.text(), "ttft:450 tpot:5");
  EXPECT_EQ(plan->seed, 9u);
}

TEST(LoadOptions, KnowsTheNamesOfOtherLoadGenerators) {
  const auto plan = plan_of({"--num-prompts", "7", "--max-concurrency", "3", "--random-input-len",
                             "9", "--random-output-len", "5", "--num-warmups", "2"});
  ASSERT_TRUE(plan.ok()) << error_of(plan);
  EXPECT_EQ(plan->num_requests, 7u);
  EXPECT_EQ(plan->concurrency, 3u);
  EXPECT_TRUE(plan->isl.is_always(9));
  EXPECT_TRUE(plan->osl.is_always(5));
  EXPECT_EQ(plan->warmup, 2u);
}

TEST(LoadOptions, DeviationsStandForNormalLengthsAndSpreadsForUniformOnes) {
  EXPECT_EQ(plan_of({"--isl-stddev", "20", "--isl", "300"})->isl.text(), "normal:300:20");
  EXPECT_EQ(plan_of({"--osl", "20", "--osl-spread", "50"})->osl.text(), "uniform:1:70");
  EXPECT_NE(error_of(plan_of({"--osl-stddev", "1", "--osl-spread", "5"})).find("--osl-spread: "),
            std::string::npos);
  EXPECT_NE(error_of(plan_of({"--isl", "uniform:1:9", "--isl-stddev", "1"})).find("--isl-stddev: "),
            std::string::npos);
}

TEST(LoadOptions, NonsenseIsRefusedWithTheFlagsName) {
  const std::vector<std::vector<std::string>> lines = {
      {"--isl", "0"},          {"--isl", "gauss:1:2"},
      {"--concurrency", "-1"}, {"--num-requests", "2.5"},
      {"--burstiness", "0"},   {"--phase", "60"},
      {"--duration", "x"},     {"--cancel-rate", "2"},
      {"--image-size", "12"},  {"--speed", "0"},
      {"--goodput", "ttft"},   {"--request-rate", "inf"}};
  for (const auto& line : lines) {
    EXPECT_TRUE(error_of(plan_of(line)).starts_with(line[0] + ": "))
        << line[0] << error_of(plan_of(line));
  }
  EXPECT_NE(error_of(plan_of({"--trace", "t.jsonl", "--turns", "3"})).find("trace"),
            std::string::npos);
}

TEST(LoadOptions, ObjectivesMayBeSeveralWords) {
  const auto plan = plan_of({"--goodput", "ttft:450", "tpot:5"});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->slo.ttft, milliseconds(450));
  EXPECT_EQ(plan->slo.tpot, milliseconds(5));
  EXPECT_NE(error_of(plan_of({"--isl", "100", "200"})).find("200"), std::string::npos)
      << "other flags have one value";
}

TEST(LoadOptions, FlagsThatContradictEachOtherAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--request-rate", "2", "--phase", "1:1"}, "--phase"},
      {{"--speed", "2"}, "--speed"},
      {{"--trace", "a.jsonl", "--isl", "5"}, "--isl"},
      {{"--trace-block-tokens", "2"}, "--trace"}};
  for (const auto& [words, flag] : wrong) {
    EXPECT_NE(error_of(plan_of(words)).find(flag), std::string::npos) << flag;
  }
  EXPECT_TRUE(plan_of({"--trace", "a.jsonl", "--speed", "2", "--request-rate", "3"}).ok());
}

TEST(LoadFile, IsTakenAsFlagsAreAndFlagsWin) {
  const std::string path = testing::TempDir() + "load_options_test.yaml";
  std::ofstream(path) << "load:\n  phase: [\"60:5\", \"30:5..50\"]\n  osl_spread: 3\n  osl: 20\n"
                         "  prefix-groups: 2\n  prefix_len: 64\n";
  const auto plan = plan_of({"--load", path});
  ASSERT_TRUE(plan.ok()) << error_of(plan);
  EXPECT_EQ(plan->phases.size(), 2u);
  EXPECT_EQ(plan->osl.text(), "uniform:17:23");
  EXPECT_EQ(plan->prefix_groups, 2u);
  const auto other = plan_of({"--load", path, "--request-rate", "3", "--num-requests", "9"});
  ASSERT_TRUE(other.ok()) << error_of(other);
  EXPECT_TRUE(other->phases.empty());
  EXPECT_EQ(other->request_rate, 3);
  EXPECT_EQ(other->num_requests, 9u);
  std::filesystem::remove(path);
  EXPECT_NE(error_of(plan_of({"--load", path})).find(path), std::string::npos);
}

/// Cases config-01 and config-03 (a mistyped key must not be ignored), for what a load file has.
TEST(LoadFile, AMistypedKeyFailsWithItsLineAndTheNearestKey) {
  EXPECT_EQ(error_of(file_plan("load:\n  isl: 5\n  prefix_lne: 9\n")),
            "load.yaml:3:3: unknown key \"prefix_lne\"; the nearest is prefix_len");
  EXPECT_TRUE(error_of(file_plan("traffic:\n  isl: 5\n")).starts_with("load.yaml:1:1: "));
  EXPECT_TRUE(
      error_of(file_plan("load:\n  isl: 5\n  osl: many\n")).starts_with("load.yaml:3:8: osl: "));
  EXPECT_TRUE(error_of(file_plan("load:\n  isl: [5, 6]\n")).starts_with("load.yaml:2:8: isl: "));
  EXPECT_TRUE(
      error_of(file_plan("load:\n  phase: [\"1:1\", \"x\"]\n")).starts_with("load.yaml:2:"));
}

}  // namespace
}  // namespace troupe
