// A simulated cluster with prefill and decode apart, put together from a plan (cluster_plan.hpp).
//
// The first node has gateway, stream table, route, the balancers, the fabric and the
// clients; each prefill engine, each decode instance and each encoder machine is a node of its own,
// on simulated GPUs. The cores are those of production, except the groups and the fabric, which
// stand where engines and transport will.
//
// Same plan, same seed: same events, on either driver. Threads: one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/decode_balancer/decode_balancer_core.hpp"
#include "actors/pd/fabric_core.hpp"
#include "actors/pd/group_host_core.hpp"
#include "actors/pd/route_core.hpp"
#include "actors/prefill_balancer/prefill_balancer_core.hpp"
#include "actors/vision_balancer/vision_balancer_core.hpp"
#include "runtime/simulation/cluster_plan.hpp"
#include "tools/simulate/answer_rate.hpp"
#include "tools/simulate/assembly.hpp"
#include "tools/simulate/cluster_front.hpp"
#include "tools/simulate/group_timing.hpp"
#include "tools/simulate/pd_faults.hpp"
#include "tools/simulate/pd_invariants.hpp"

namespace troupe {

/// Of a load with images where nobody encodes them.
Error no_encoders();

class PdCluster {
 public:
  struct Options {
    MakeWorld make_world = heap_world;
    bool trace_hash = true;
    /// Instead of the plan's workload. What prompts share by themselves (a trace, sessions, prefix
    /// groups) is found block by block; else the plan's share of them is cached.
    std::optional<TrafficPlan> load;
    std::function<void(Time, const Envelope&)> observer;  ///< of deliveries; may be empty
    /// Called so often in virtual time; may be empty.
    std::function<void(PdCluster&)> on_sample;
    Duration sample_every = seconds(1);
    /// Looks at all rules after each event: for small runs.
    bool sweep_every_event = false;
  };

  /// kInvalid: policies that are not there, a load that cannot be, a trace that cannot be read, a
  /// table of step times that is not there or beside constants of the formula.
  static Result<std::unique_ptr<PdCluster>> make(const ClusterPlan& plan, Options options);
  ~PdCluster();

  /// Runs load and faults to the end, and until nothing is held any more.
  /// Errors: kDeadline, if the load has not ended after SimulatedCluster::kLongest.
  Status run();
  /// With the faults, looks at rules and samples until then.
  void run_until(Time until);
  /// The next event, fault, or look at the rules. False: nothing is left.
  bool step();
  /// After the load: ends faults, waits for what is under way, looks at what is left.
  void finish();
  Duration slice() const { return options_.sample_every; }
  /// Services and groups.
  std::vector<ActorRef> notable();

  const ClusterPlan& plan() const { return plan_; }
  World& world() { return *world_; }
  const TrafficCore& traffic() { return world_->core<TrafficCore>(actors_.traffic); }
  const SimulationNotes& notes() const { return notes_; }
  const GroupCost& cost() const { return *cost_; }
  /// Of step times; nobody: they are the formula's.
  const TimingTable* table() const { return timing_.table.get(); }
  const RouteCore& route() { return world_->core<RouteCore>(actors_.route); }
  const FabricCore& fabric() { return world_->core<FabricCore>(wiring_->fabric); }
  const PrefillBalancerCore& prefill_balancer() {
    return world_->core<PrefillBalancerCore>(wiring_->prefill_balancer);
  }
  const DecodeBalancerCore& decode_balancer() {
    return world_->core<DecodeBalancerCore>(wiring_->decode_balancer);
  }
  // What the pools did, warm-up and lives that were killed included, up to the load's end; while it
  // goes on, up to now, of steps under way the part that has passed.
  GroupUse prefill_use() { return uses().prefill; }
  GroupUse decode_use() { return uses().decode; }
  GroupUse encoder_use() { return uses().encoders; }
  /// Of that time.
  double used_seconds() { return (uses().until - Time()).seconds(); }
  /// Of each engine's life that is there now.
  std::vector<GroupUse> prefill_uses();
  // Prompt tokens, and those of them that were computed before: in the store, or in the caches of
  // engines that have their own.
  std::uint64_t tokens_asked();
  std::uint64_t tokens_hit();
  /// Of all lives.
  std::uint64_t images_encoded() const;
  /// nullptr: the plan has no encoders.
  const VisionBalancerCore* vision_balancer() {
    return actors_.find<VisionBalancerCore>(actors_.vision_balancer);
  }
  const PdFaults::Counts& faults() const { return faults_.counts(); }
  const FaultMarks& fault_marks() const { return faults_.marks(); }
  /// Sampled each `sample_every`.
  const AnswerRate& answer_rate() const { return answer_rate_; }
  const std::vector<std::string>& crashes() const { return seen_.crashes; }

  /// What every run must keep (pd_invariants.hpp); empty: it did.
  const std::vector<std::string>& broken_rules() const { return rules_.broken(); }
  const PdInvariants& rules() const { return rules_; }

 private:
  static constexpr NodeId kFront{0};
  /// Roots of the front node; NodeCore::kName is 1.
  enum RootName : std::uint64_t {
    kTrafficRoot = 2,
    kRouteRoot,
    kPrefillBalancerRoot,
    kDecodeBalancerRoot,
    kFabricRoot,
    kVisionBalancerRoot,
  };
  static constexpr std::uint64_t kGroupRoot = 1;

  PdCluster(const ClusterPlan& plan, Options options, StepTiming timing,
            std::shared_ptr<RequestSource> source, TrafficPlan traffic, PrefillRule prefill,
            DecodeRule decode, DraftRule drafts);

  void make_devices(DraftRule drafts);
  /// What is added from now on belongs to another group.
  void begin_group();
  void add_device(std::unique_ptr<GroupModel> model);
  void make_encoders();
  std::uint32_t images_most() const;
  void start_vision_balancer();
  void start_encoders();
  void start_services(PrefillRule prefill, DecodeRule decode);
  void start_groups(DraftRule drafts);
  void start_front();
  std::shared_ptr<const PromptMaker> prompts() const;
  std::uint32_t own_cache_blocks() const;
  FabricSpeeds speeds() const;
  PrefillCurve prefill_curve() const;
  DraftBudget::Options draft_options(DraftRule rule) const;
  GroupHostCore::Args host_args() const;
  WorldOptions world_options();
  struct Uses {
    GroupUse prefill, decode, encoders;
    Time until;
  };
  Uses uses() { return at_end_ ? *at_end_ : uses_so_far(); }
  Uses uses_so_far();
  /// Of the life that a group has now, if it has one.
  void add_use(std::size_t group, Uses& uses);
  void advance(Time until);
  void sample();

  ClusterPlan plan_;
  Options options_;
  TrafficPlan load_;
  std::shared_ptr<RequestSource> source_;
  SimulationNotes notes_;
  StepTiming timing_;
  std::shared_ptr<GroupCost> cost_;
  std::vector<std::unique_ptr<ModelledDevice>> devices_;
  std::vector<std::vector<GroupModel*>> models_;  ///< by group: engines, instances, encoders
  std::vector<std::vector<StreamRef>> streams_;   ///< likewise
  std::shared_ptr<PdWiring> wiring_;
  PdActors actors_;
  PdFaults faults_;
  PdInvariants rules_;
  Time next_sample_;
  AnswerRate answer_rate_;
  FrontSeen seen_;
  Uses gone_;                     ///< of lives that were killed
  std::optional<Uses> at_end_;    ///< since the load has ended
  std::unique_ptr<World> world_;  ///< last: it ends before what it uses
};

/// What the plan expects and the run did not bring.
std::vector<std::string> unmet_expectations(PdCluster& cluster);

}  // namespace troupe
