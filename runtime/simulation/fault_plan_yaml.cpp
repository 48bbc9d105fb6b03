#include "runtime/simulation/fault_plan_yaml.hpp"

#include <optional>
#include <string_view>

namespace troupe {

namespace {

constexpr std::uint64_t kTargetsMany = 1u << 20;
constexpr double kGroupShareLeast = 0.01;
constexpr const char* kActs[] = {"kill", "freeze", "partition", "slow", "stall", "drop"};

std::optional<GroupKind> group_of(std::string_view name) {
  if (name == "prefill_engine") return GroupKind::kPrefillEngine;
  if (name == "decode_instance") return GroupKind::kDecodeInstance;
  if (name == "encoder_machine") return GroupKind::kEncoderMachine;
  return std::nullopt;
}

FaultPlace place_of(GroupKind group) {
  switch (group) {
    case GroupKind::kPrefillEngine:
      return FaultPlace::kPrefillEngine;
    case GroupKind::kDecodeInstance:
      return FaultPlace::kDecodeInstance;
    case GroupKind::kEncoderMachine:
      break;
  }
  return FaultPlace::kEncoderMachine;
}

std::optional<FabricPart> part_of(std::string_view name) {
  if (name == "nic") return FabricPart::kNic;
  if (name == "spine") return FabricPart::kSpine;
  if (name == "storage_read") return FabricPart::kStorageRead;
  if (name == "storage_write") return FabricPart::kStorageWrite;
  return std::nullopt;
}

void read_group(YamlMap& map, const char* key, FaultAct act, const FaultTargets& targets,
                ClusterFault& fault) {
  std::string victim;
  map.get(key, victim);
  const auto group = group_of(victim);
  if (!group)
    return map.fail(key, "prefill_engine, decode_instance or encoder_machine is expected");
  fault.act = act;
  fault.group = *group;
  if (targets.of_kind(*group) == 0) map.fail(key, "the plan has none of these");
}

void read_kill(YamlMap& map, const FaultTargets& targets, ClusterFault& fault) {
  std::string victim;
  map.get("kill", victim);
  fault.act = FaultAct::kKillService;
  if (victim == "gateway") {
    fault.service = FrontService::kGateway;
  } else if (victim == "streams") {
    fault.service = FrontService::kStreams;
  } else if (group_of(victim)) {
    read_group(map, "kill", FaultAct::kKill, targets, fault);
  } else {
    map.fail("kill",
             "prefill_engine, decode_instance, encoder_machine, gateway or streams is expected");
  }
}

void read_slow(YamlMap& map, const FaultTargets& targets, ClusterFault& fault) {
  std::string what;
  map.get("slow", what);
  map.get("share", fault.share, 1e-6, 1);
  if (!map.has("share")) map.fail("share", "which part of the speed is left, up to 1");
  if (const auto part = part_of(what)) {
    fault.act = FaultAct::kSlowLink;
    fault.part = *part;
  } else if (group_of(what)) {
    read_group(map, "slow", FaultAct::kSlowGroup, targets, fault);
    // Steps of many seconds outlast reservations and watchdogs: that is a freeze.
    if (fault.share < kGroupShareLeast) map.fail("share", "a group keeps at least 0.01");
  } else {
    map.fail("slow",
             "nic, spine, storage_read, storage_write, prefill_engine, decode_instance or "
             "encoder_machine is expected");
  }
}

void read_stall(YamlMap& map, ClusterFault& fault) {
  std::string what;
  map.get("stall", what);
  const auto part = part_of(what);
  if (!part) return map.fail("stall", "nic, spine, storage_read or storage_write is expected");
  fault.act = FaultAct::kSlowLink;
  fault.part = *part;
  fault.share = kStalledShare;
}

void read_place(YamlMap& map, const char* key, FaultPlace& place) {
  std::string name;
  map.get(key, name);
  if (!map.has(key)) return;
  if (name == "front") {
    place = FaultPlace::kFront;
  } else if (const auto group = group_of(name)) {
    place = place_of(*group);
  } else {
    map.fail(key, "front, prefill_engine, decode_instance or encoder_machine is expected");
  }
}

void read_lost(YamlMap& map, ClusterFault& fault) {
  fault.act = FaultAct::kDrop;
  map.get("drop", fault.message);
  map.get("share", fault.share, 0, 1);
  if (!map.has("share")) map.fail("share", "which part of the messages is lost, from 0 to 1");
  read_place(map, "from", fault.from);
  read_place(map, "to", fault.to);
}

/// When a fault happens: once, or again and again.
void read_times(YamlMap& map, ClusterFault& fault) {
  const bool lasts = fault.act != FaultAct::kKill && fault.act != FaultAct::kKillService;
  // A drop without an end lasts for the whole run; nothing else does.
  const bool needs_end = lasts && fault.act != FaultAct::kDrop;
  Duration until;
  if (map.has("every_ms")) {
    Duration every, length;
    map.get("every_ms", every);
    map.get("from_ms", fault.at);
    map.get("until_ms", until);
    if (map.has("until_ms")) fault.until = until;
    fault.every = every;
    if (every < milliseconds(1)) map.fail("every_ms", "a mean gap of at least 1 is expected");
    if (map.has("until_ms") && until <= fault.at) {
      map.fail("until_ms", "a time after from_ms is expected");
    }
    if (!lasts) return;
    map.get("for_ms", length);
    fault.lasts = length;
    if (length <= Duration()) map.fail("for_ms", "how long each lasts, more than 0");
    return;
  }
  map.get("at_ms", fault.at);
  if (!lasts && !map.has("at_ms")) map.fail("kill", "at_ms or every_ms is expected beside it");
  if (!lasts) return;
  if (map.has("for_ms")) map.fail("for_ms", "goes with every_ms; beside at_ms say until_ms");
  map.get("until_ms", until);
  if (map.has("until_ms")) fault.lasts = until - fault.at;
  if ((needs_end || map.has("until_ms")) && until <= fault.at) {
    map.fail("until_ms", "a time after at_ms is expected");
  }
}

void read_which(YamlMap& map, const FaultTargets& targets, ClusterFault& fault) {
  std::uint32_t which = 0;
  map.get("which", which, 0, kTargetsMany);
  if (!map.has("which")) return;
  if (which >= targets.of(fault)) {
    map.fail("which", fault.act == FaultAct::kSlowLink
                          ? "there are " + std::to_string(targets.of(fault))
                          : "the pool has " + std::to_string(targets.of(fault)));
  }
  fault.which = which;
}

Result<ClusterFault> read_one(const std::string& file, const YAML::Node& node,
                              const FaultTargets& targets) {
  YamlMap map(file, node, "faults");
  ClusterFault fault;
  int acts = 0;
  for (const char* act : kActs) acts += map.has(act) ? 1 : 0;
  if (acts != 1) {
    map.fail("kill", "a fault has exactly one of kill, freeze, partition, slow, stall, drop");
  } else if (map.has("kill")) {
    read_kill(map, targets, fault);
  } else if (map.has("freeze")) {
    read_group(map, "freeze", FaultAct::kFreeze, targets, fault);
  } else if (map.has("partition")) {
    read_group(map, "partition", FaultAct::kPartition, targets, fault);
  } else if (map.has("slow")) {
    read_slow(map, targets, fault);
  } else if (map.has("stall")) {
    read_stall(map, fault);
  } else {
    read_lost(map, fault);
  }
  if (fault.act != FaultAct::kDrop) read_which(map, targets, fault);
  read_times(map, fault);
  TROUPE_TRY(map.finish());
  return fault;
}

}  // namespace

std::uint32_t FaultTargets::of_kind(GroupKind kind) const {
  switch (kind) {
    case GroupKind::kPrefillEngine:
      return engines;
    case GroupKind::kDecodeInstance:
      return instances;
    case GroupKind::kEncoderMachine:
      break;
  }
  return encoders;
}

std::uint32_t FaultTargets::of(const ClusterFault& fault) const {
  switch (fault.act) {
    case FaultAct::kKill:
    case FaultAct::kFreeze:
    case FaultAct::kPartition:
    case FaultAct::kSlowGroup:
      return of_kind(fault.group);
    case FaultAct::kSlowLink:
      return fault.part == FabricPart::kNic ? gpus : 1;
    case FaultAct::kKillService:
    case FaultAct::kDrop:
      break;
  }
  return 1;
}

Result<ClusterFaults> read_cluster_faults(const std::string& file, const YAML::Node& list,
                                          const FaultTargets& targets) {
  ClusterFaults faults;
  for (const auto& node : list) {
    TROUPE_TRY_ASSIGN(auto fault, read_one(file, node, targets));
    faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace troupe
