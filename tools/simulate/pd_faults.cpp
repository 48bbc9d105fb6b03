#include "tools/simulate/pd_faults.hpp"

#include <algorithm>
#include <string_view>

namespace troupe {

namespace {

/// What travels between the front and the groups.
constexpr std::string_view kBetweenNodes[] = {PrefillEngineJoined::info.name,
                                              PrefillAdvanced::info.name,
                                              PrefillCurveLearned::info.name,
                                              ReserveDecode::info.name,
                                              StartPrefill::info.name,
                                              StopPrefill::info.name,
                                              PrefillEnded::info.name,
                                              DecodeInstanceJoined::info.name,
                                              DecodeStarted::info.name,
                                              StartDecode::info.name,
                                              StopDecode::info.name,
                                              DecodeEnded::info.name,
                                              DecodeRefused::info.name,
                                              AskGroup::info.name,
                                              GroupHas::info.name,
                                              GroupStopped::info.name,
                                              TokenBatch::info.name,
                                              EncoderMachineJoined::info.name,
                                              EncodePatches::info.name,
                                              StopEncode::info.name,
                                              PatchesEncoded::info.name,
                                              EncodePending::info.name};

FaultTargets targets_of(const ClusterPlan& plan) {
  return {plan.prefill.engines, plan.decode.instances, plan.ports(), plan.encoders.machines};
}

/// Of a group, where targets are parts of the fabric.
constexpr int kGroupTarget = 100;

}  // namespace

Status PdFaults::check(const ClusterPlan& plan) {
  for (const ClusterFault& fault : plan.faults) {
    if (fault.act != FaultAct::kDrop || fault.message == "all") continue;
    const bool known = std::any_of(std::begin(kBetweenNodes), std::end(kBetweenNodes),
                                   [&](std::string_view name) { return fault.message == name; });
    if (known) continue;
    std::string problem =
        "faults.drop: no message " + fault.message + " travels between nodes; these do: all";
    for (const std::string_view name : kBetweenNodes) problem += " " + std::string(name);
    return Error{Code::kInvalid, std::move(problem)};
  }
  return ok_status();
}

PdFaults::PdFaults(const ClusterPlan& plan)
    : plan_(plan),
      schedule_(plan.faults, targets_of(plan), plan.seed),
      silent_(plan.prefill.engines + plan.decode.instances + plan.encoders.machines),
      drop_rng_(mix64(plan.seed, 0xd0)) {
  for (const ClusterFault& fault : plan.faults) {
    drops_anything_ =
        drops_anything_ || fault.act == FaultAct::kDrop || fault.act == FaultAct::kPartition;
    holds_up_ = holds_up_ || drops_anything_ || fault.act == FaultAct::kFreeze;
  }
}

std::optional<Time> PdFaults::next() const {
  std::optional<Time> next = schedule_.next();
  if (!verdicts_.empty() && (!next || verdicts_.begin()->first < *next)) {
    next = verdicts_.begin()->first;
  }
  return next;
}

void PdFaults::carry_out() {
  const Time now = *next();
  if (!verdicts_.empty() && verdicts_.begin()->first == now) {
    const Verdict verdict = verdicts_.begin()->second;
    verdicts_.erase(verdicts_.begin());
    return give_up(verdict);
  }
  const FaultSchedule::Moment moment = schedule_.take();
  const ClusterFault& fault = plan_.faults[moment.fault];
  if (moment.begins) {
    begin(fault, moment);
  } else {
    end(fault, moment);
  }
}

void PdFaults::stop() {
  schedule_.stop();
  drops_.clear();
}

std::size_t PdFaults::group_of(const ClusterFault& fault, std::uint32_t which) const {
  switch (fault.group) {
    case GroupKind::kPrefillEngine:
      return which;
    case GroupKind::kDecodeInstance:
      return plan_.prefill.engines + which;
    case GroupKind::kEncoderMachine:
      break;
  }
  return plan_.prefill.engines + plan_.decode.instances + which;
}

std::string PdFaults::name_of(std::size_t group) const {
  const std::size_t engines = plan_.prefill.engines;
  const std::size_t others = engines + plan_.decode.instances;
  if (group < engines) return "prefill_engine " + std::to_string(group);
  if (group < others) return "decode_instance " + std::to_string(group - engines);
  return "encoder_machine " + std::to_string(group - others);
}

void PdFaults::begin(const ClusterFault& fault, const FaultSchedule::Moment& moment) {
  const std::size_t group = group_of(fault, moment.which);
  marks_.add(parts_.world->now(), text_of(fault, moment.which));
  switch (fault.act) {
    case FaultAct::kKill:
      return kill(group);
    case FaultAct::kKillService:
      return kill(fault.service);
    case FaultAct::kFreeze:
      ++counts_.freezes;
      begin_silence(group);
      ++silent_[group].freezes;
      return parts_.world->freeze(node_of(group), moment.until);
    case FaultAct::kPartition:
      ++counts_.partitions;
      begin_silence(group);
      ++silent_[group].partitions;
      return;
    case FaultAct::kSlowGroup:
    case FaultAct::kSlowLink:
      ++counts_.slowdowns;
      return set_share(fault, moment.which, true);
    case FaultAct::kDrop:
      drops_.insert(moment.fault);
      return;
  }
}

void PdFaults::end(const ClusterFault& fault, const FaultSchedule::Moment& moment) {
  const std::size_t group = group_of(fault, moment.which);
  marks_.add(parts_.world->now(), "end of: " + text_of(fault, moment.which));
  switch (fault.act) {
    case FaultAct::kFreeze:
      return end_silence(group, &Silence::freezes);
    case FaultAct::kPartition:
      return end_silence(group, &Silence::partitions);
    case FaultAct::kSlowGroup:
    case FaultAct::kSlowLink:
      return set_share(fault, moment.which, false);
    case FaultAct::kDrop: {
      const auto at = drops_.find(moment.fault);
      if (at != drops_.end()) drops_.erase(at);
      return;
    }
    case FaultAct::kKill:
    case FaultAct::kKillService:
      return;
  }
}

void PdFaults::kill(std::size_t group) {
  World& world = *parts_.world;
  const ActorRef ref = world.core<GroupHostCore>(parts_.hosts.at(group)).group();
  // One that is starting has nothing to lose.
  if (world.find(ref) == nullptr) return;
  ++counts_.groups_killed;
  parts_.before_kill(group);
  world.kill(world.now(), ref);
  // At once, so that nobody who samples at this moment counts it twice.
  world.run_until(world.now() + nanoseconds(1));
}

void PdFaults::kill(FrontService service) {
  const bool gateway = service == FrontService::kGateway;
  const ActorRef& ref = gateway ? parts_.front->gateway : parts_.front->streams;
  if (parts_.world->find(ref) == nullptr) return;
  ++counts_.services_killed;
  parts_.world->kill(parts_.world->now(), ref);
}

void PdFaults::begin_silence(std::size_t group) {
  Silence& silence = silent_[group];
  if (silence.any()) return;
  silence.since = ++next_silence_;
  const Duration patience = from_seconds(plan_.constant("node_lost_s"));
  verdicts_.emplace(parts_.world->now() + patience, Verdict{group, silence.since});
}

void PdFaults::give_up(const Verdict& verdict) {
  Silence& silence = silent_[verdict.group];
  if (!silence.any() || silence.since != verdict.since) return;
  silence.lost = true;
  ++counts_.nodes_lost;
  marks_.add(parts_.world->now(), name_of(verdict.group) + " given up");
  parts_.world->lose_node(node_of(verdict.group));
}

void PdFaults::end_silence(std::size_t group, std::uint32_t Silence::*what) {
  Silence& silence = silent_[group];
  const bool alone = silence.freezes + silence.partitions == 1;
  World& world = *parts_.world;
  if (alone && silence.lost) {
    silence.lost = false;
    kill(group);
  }
  --(silence.*what);
  if (what == &Silence::freezes && silence.freezes == 0) world.thaw(node_of(group));
}

void PdFaults::set_share(const ClusterFault& fault, std::uint32_t which, bool begins) {
  const bool slow_group = fault.act == FaultAct::kSlowGroup;
  const std::size_t group = group_of(fault, which);
  const Target target = slow_group ? Target(kGroupTarget, static_cast<std::uint32_t>(group))
                                   : Target(static_cast<int>(fault.part), which);
  std::multiset<double>& shares = shares_[target];
  if (begins) {
    shares.insert(fault.share);
  } else {
    shares.erase(shares.find(fault.share));
  }
  const double share = shares.empty() ? 1 : *shares.begin();
  if (slow_group) {
    for (GroupModel* model : parts_.models.at(group)) model->set_pace(1 / share);
    return;
  }
  const PortId port(fault.part == FabricPart::kNic ? which : 0);
  parts_.world->post(parts_.world->now(), parts_.fabric,
                     make_message<LinksChanged>(fault.part, port, share));
}

FaultPlace PdFaults::place_of(NodeId node) const {
  if (node.value == 0) return FaultPlace::kFront;
  if (node.value <= plan_.prefill.engines) return FaultPlace::kPrefillEngine;
  return node.value <= plan_.prefill.engines + plan_.decode.instances ? FaultPlace::kDecodeInstance
                                                                      : FaultPlace::kEncoderMachine;
}

bool PdFaults::drops(const Envelope& envelope) {
  const auto cut = [this](NodeId node) {
    return node.value > 0 && silent_[node.value - 1].partitions > 0;
  };
  bool lost = cut(envelope.from.node) || cut(envelope.to.node);
  for (auto at = drops_.begin(); at != drops_.end() && !lost; ++at) {
    const ClusterFault& fault = plan_.faults[*at];
    const auto fits = [&](FaultPlace place, NodeId node) {
      return place == FaultPlace::kAnywhere || place == place_of(node);
    };
    if (!fits(fault.from, envelope.from.node) || !fits(fault.to, envelope.to.node)) continue;
    if (fault.message != "all" && fault.message != envelope.message.type().info.name) continue;
    lost = drop_rng_.chance(fault.share);
  }
  if (lost) ++counts_.messages_dropped;
  return lost;
}

}  // namespace troupe
