#include "runtime/simulation/scenario.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/simulation/expectations_yaml.hpp"
#include "runtime/simulation/workload_yaml.hpp"
#include "runtime/simulation/yaml_reader.hpp"

namespace troupe {

namespace {

constexpr std::uint64_t kMany = 1u << 30;

Status read_cluster(const std::string& file, const YAML::Node& node, ClusterShape& shape) {
  if (!node) return ok_status();
  YamlMap map(file, node, "cluster");
  map.get("nodes", shape.nodes, 1, 1024);
  map.get("ranks", shape.ranks, 1, 4096);
  map.get("blocks", shape.blocks, 1, kMany);
  map.get("context_max", shape.context_max, 1, kMany);
  map.get("max_num_seqs", shape.max_num_seqs, 1, 65536);
  map.get("max_num_batched_tokens", shape.max_num_batched_tokens, 1, kMany);
  map.get("rank_queue_max", shape.rank_queue_max, 0, kMany);
  map.get("async_steps", shape.async_steps);
  map.get("requests_max", shape.requests_max, 0, kMany);
  map.get("request_timeout_ms", shape.request_timeout);
  map.get("bytes_per_token", shape.bytes_per_token, 1, 65536);
  return map.finish();
}

std::optional<FaultKind> kill_kind(const std::string& who) {
  if (who == "rank") return FaultKind::kKillRank;
  if (who == "gateway") return FaultKind::kKillGateway;
  if (who == "streams") return FaultKind::kKillStreams;
  if (who == "request") return FaultKind::kKillRequest;
  return std::nullopt;
}

/// A drop of nothing would look like a fault that the cluster survived.
void read_drop(YamlMap& map, Fault& fault, const MessageNames& droppable) {
  fault.kind = FaultKind::kDrop;
  fault.until = seconds(1'000'000'000);
  map.get("from_ms", fault.at);
  map.get("until_ms", fault.until);
  map.get("share", fault.share, 0, 1);
  if (!map.has("share")) map.fail("share", "it is needed: which part is lost, from 0 to 1");
  if (std::find(droppable.begin(), droppable.end(), fault.message) != droppable.end()) return;
  std::string problem = "no message " + fault.message + " travels between nodes; these do:";
  for (const auto& name : droppable) problem += " " + name;
  map.fail("drop", problem);
}

Result<Fault> read_fault(const std::string& file, const YAML::Node& node,
                         const MessageNames& droppable) {
  YamlMap map(file, node, "faults");
  Fault fault;
  std::string victim;
  map.get("kill", victim);
  map.get("drop", fault.message);
  if (victim.empty() == fault.message.empty()) {
    map.fail("kill", "a fault has exactly one of kill and drop");
  } else if (!victim.empty()) {
    map.get("at_ms", fault.at);
    const auto kind = kill_kind(victim);
    if (!kind) map.fail("kill", "one of rank, gateway, streams, request is expected");
    fault.kind = kind.value_or(FaultKind::kKillRank);
  } else {
    read_drop(map, fault, droppable);
  }
  TROUPE_TRY(map.finish());
  return fault;
}

Result<Scenario> read_scenario(const std::string& file, const YAML::Node& root,
                               const MessageNames& droppable) {
  YamlMap map(file, root, "scenario");
  Scenario scenario;
  map.get("name", scenario.name);
  map.get("seed", scenario.seed, 0, std::uint64_t{1} << 52);
  map.get("explore_ties", scenario.explore_ties);
  TROUPE_TRY(read_cluster(file, map.child("cluster"), scenario.cluster));
  TROUPE_TRY(read_workload(file, map.child("workload"), scenario.workload));
  TROUPE_TRY(read_expectations(file, map.child("expect"), scenario.expect));
  const YAML::Node faults = map.child("faults");
  if (faults && !faults.IsSequence()) map.fail("faults", "a list is expected");
  if (faults && faults.IsSequence()) {
    for (const auto& node : faults) {
      TROUPE_TRY_ASSIGN(auto fault, read_fault(file, node, droppable));
      scenario.faults.push_back(std::move(fault));
    }
  }
  TROUPE_TRY(map.finish());
  return scenario;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, const std::string& file,
                                const MessageNames& droppable) {
  try {
    return read_scenario(file, YAML::Load(std::string(text)), droppable);
  } catch (const YAML::Exception& failure) {
    return Error{Code::kInvalid,
                 file + ":" + std::to_string(failure.mark.line + 1) + ": not YAML: " + failure.msg};
  }
}

Result<Scenario> load_scenario(const std::string& file, const MessageNames& droppable) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error{Code::kNotFound, "there is no file " + file};
  std::ostringstream text;
  text << stream.rdbuf();
  return parse_scenario(text.str(), file, droppable);
}

}  // namespace troupe
