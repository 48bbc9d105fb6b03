// Load flags of `troupe simulate`, and what the two simulated worlds make of them.
#include "tools/simulate/simulated_load.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/cli/cli.hpp"
#include "tools/simulate/pd_cluster.hpp"

namespace troupe {
namespace {

Workload small_load() {
  Workload load;
  load.isl = 4'000;
  load.osl = 60;
  load.osl_spread = 40;
  load.request_rate = 20;
  load.num_requests = 100;
  return load;
}

/// What the flags make of a workload.
Result<TrafficPlan> load_of(std::vector<std::string> words, const Workload& workload) {
  cli::Program program("test", "about");
  cli::Command command = program.root().command("load", "about");
  const LoadOptions flags(command);
  Result<TrafficPlan> load = Error{Code::kInternal, "not run"};
  command.run([&] {
    load = simulated_load(flags, workload, 7);
    return cli::kOk;
  });
  words.insert(words.begin(), {"test", "load"});
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto code = program.run(static_cast<int>(argv.size()), argv.data());
  if (!code.ok()) return code.error();
  return load;
}

std::string trace(const std::string& name) {
  const char* source = std::getenv("TROUPE_SOURCE");
  return std::string(source == nullptr ? "." : source) + "/tests/data/traces/" + name;
}

std::unique_ptr<PdCluster> run_cluster(std::vector<std::string> words) {
  ClusterPlan plan;
  plan.prefill = {2, 2};
  plan.decode.ranks = 4;
  plan.prefix.cached_share = 0.5;
  plan.workload = small_load();
  PdCluster::Options options;
  auto load = load_of(std::move(words), plan.workload);
  EXPECT_TRUE(load.ok()) << load.error().message;
  options.load = std::move(load).value();
  auto cluster = PdCluster::make(plan, std::move(options));
  EXPECT_TRUE(cluster.ok()) << cluster.error().message;
  EXPECT_TRUE((*cluster)->run().ok());
  for (const auto& rule : (*cluster)->broken_rules()) ADD_FAILURE() << rule;
  return std::move(cluster).value();
}

double hit_share(PdCluster& cluster) {
  const PrefixIndex& prefixes = cluster.route().prefixes();
  return static_cast<double>(prefixes.tokens_hit()) / static_cast<double>(prefixes.tokens_asked());
}

TEST(SimulatedLoad, FlagsChangeTheWorkload) {
  const auto load =
      load_of({"--isl", "uniform:10:20", "--phase", "10:5", "--seed", "9"}, small_load());
  ASSERT_TRUE(load.ok()) << load.error().message;
  EXPECT_EQ(load->isl.text(), "uniform:10:20");
  EXPECT_EQ(load->phases.size(), 1u);
  EXPECT_EQ(load->request_rate, 0);
  EXPECT_EQ(load->num_requests, 0u);  // the phases say when it ends
  EXPECT_EQ(load->seed, 9u);
  const auto traced = load_of({"--trace", "x.jsonl", "--request-rate", "3"}, small_load());
  EXPECT_EQ(traced->request_rate, 3);
  const auto same = load_of({}, small_load());
  EXPECT_EQ(same->num_requests, 100u);
  EXPECT_EQ(same->seed, 7u);
  EXPECT_EQ(same->osl.text(), "uniform:20:100");
}

TEST(SimulatedLoad, WhatNoSimulationPlaysIsRefused) {
  for (const auto& words : {std::vector<std::string>{"--image-share", "0.5", "--image-size", "8x8"},
                            std::vector<std::string>{"--tools", "3"}}) {
    const auto load = load_of(words, small_load());
    ASSERT_FALSE(load.ok());
    EXPECT_NE(load.error().message.find(words[0]), std::string::npos) << load.error().message;
  }
  ClusterPlan plan;
  EXPECT_EQ(images_taken_by(plan), Images::kRefused);
  EXPECT_EQ(images_taken_by(EnginePlan()), Images::kRefused);
  plan.encoders.machines = 1;
  EXPECT_EQ(images_taken_by(plan), Images::kTaken);
}

TEST(SimulatedLoad, LengthsAloneLeaveThePlansShareCached) {
  const auto cluster = run_cluster({"--isl", "uniform:3000:5000"});
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 100u);
  EXPECT_NEAR(hit_share(*cluster), 0.5, 0.02);
}

TEST(SimulatedLoad, SharedPrefixesAreFoundBlockByBlock) {
  // Of 4,000 and 12,000 tokens the latter are one of four system prompts: what is new, and the
  // first four of them, are computed.
  const auto cluster =
      run_cluster({"--prefix-groups", "4", "--prefix-len", "12000", "--num-requests", "200"});
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 200u);
  EXPECT_GT(hit_share(*cluster), 0.68);
  EXPECT_LT(hit_share(*cluster), 0.75);
}

TEST(SimulatedLoad, ATracesAnswersHaveItsLengths) {
  // Three turns, of 200, 50 and 90 tokens; the last one's first 1,700 were computed before.
  const auto cluster = run_cluster({"--trace", trace("agentic.jsonl")});
  EXPECT_EQ(cluster->traffic().report().count(Outcome::kOk), 3u);
  EXPECT_EQ(cluster->traffic().report().output_tokens(), 340u);
  EXPECT_GT(hit_share(*cluster), 0.5);

  SimulatedCluster::Options options;
  auto load = load_of({"--trace", trace("mooncake.jsonl")}, Workload());
  ASSERT_TRUE(load.ok()) << load.error().message;
  options.load = std::move(load).value();
  auto world = SimulatedCluster::make(Scenario(), std::move(options));
  ASSERT_TRUE(world.ok()) << world.error().message;
  EXPECT_TRUE((*world)->run().ok());
  EXPECT_EQ((*world)->traffic().report().count(Outcome::kOk), 4u);
  EXPECT_EQ((*world)->traffic().report().input_tokens(), 3242u);
  EXPECT_EQ((*world)->traffic().report().output_tokens(), 755u);
}

TEST(SimulatedLoad, ATraceThatIsNotThereIsRefused) {
  SimulatedCluster::Options options;
  auto load = load_of({"--trace", "none.jsonl"}, Workload());
  ASSERT_TRUE(load.ok());
  options.load = std::move(load).value();
  const auto world = SimulatedCluster::make(Scenario(), std::move(options));
  ASSERT_FALSE(world.ok());
  EXPECT_NE(world.error().message.find("none.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace troupe
