// Runs every scenario file of this folder, and refuses files that are wrong.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/simulation/cluster.hpp"

namespace troupe {
namespace {

std::vector<std::string> scenario_files() {
  const char* source = std::getenv("TROUPE_SOURCE");
  std::vector<std::string> files;
  if (source == nullptr) return files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(source) + "/tests/simulation")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Scenarios, EachKeepsItsExpectations) {
  const auto files = scenario_files();
  ASSERT_GE(files.size(), 5u);
  for (const auto& file : files) {
    SCOPED_TRACE("replay: troupe simulate --scenario " + file);
    const auto scenario = load_scenario(file, wire_message_names());
    ASSERT_TRUE(scenario.ok()) << scenario.error().message;
    EXPECT_FALSE(scenario->name.empty());
    run_clean(*scenario);
  }
}

std::string problem(const char* text) {
  const auto scenario = parse_scenario(text, "x.yaml", {"submit_row", "cancel_row"});
  return scenario.ok() ? "accepted" : scenario.error().message;
}

TEST(Scenarios, WrongFilesAreRefusedWithTheirPlace) {
  EXPECT_EQ(problem("seed: 1\nworklaod: {}\n"),
            "x.yaml:2: unknown key scenario.worklaod; the nearest is workload; known: name seed "
            "explore_ties cluster workload expect faults");
  EXPECT_EQ(problem("workload:\n  isl: many\n"),
            "x.yaml:2: workload.isl: a number from 1 to 1073741824 is expected");
  EXPECT_EQ(problem("workload: {isl: 1.5}\n"),
            "x.yaml:1: workload.isl: a whole number is expected");
  EXPECT_EQ(problem("cluster: 7\n"), "x.yaml:1: cluster is a map of keys and values");
  EXPECT_EQ(problem("\nfaults:\n  - {at_ms: 5, kill: everyone}\n"),
            "x.yaml:3: faults.kill: one of rank, gateway, streams, request is expected");
  EXPECT_EQ(problem("faults: [{at_ms: 5}]\n"),
            "x.yaml:1: faults.kill: a fault has exactly one of kill and drop");
  EXPECT_EQ(problem("faults: [{drop: submit_rwo, share: 1}]\n"),
            "x.yaml:1: faults.drop: no message submit_rwo travels between nodes; these do: "
            "submit_row cancel_row");
  EXPECT_EQ(problem("faults: [{drop: submit_row}]\n"),
            "x.yaml:1: faults.share: it is needed: which part is lost, from 0 to 1");
  EXPECT_EQ(problem("faults: 5\n"), "x.yaml:1: scenario.faults: a list is expected");
  EXPECT_EQ(problem("expect: {ok_min: -1}\n").substr(0, 25), "x.yaml:1: expect.ok_min: ");
  EXPECT_EQ(problem("a: [\n").substr(0, 8), "x.yaml:2");
  EXPECT_EQ(problem("{}"), "accepted");
}

}  // namespace
}  // namespace troupe
