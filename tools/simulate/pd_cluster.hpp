// A simulated cluster with prefill and decode apart, put together from a plan (cluster_plan.hpp).
//
// The first node has gateway, stream table, route, both balancers, the fabric and the
// clients; each prefill engine and each decode instance is a node of its own, on a simulated group
// of GPUs. The cores are those of production, except the groups and the fabric, which stand where
// engines and transport will.
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
#include "runtime/simulation/cluster_plan.hpp"
#include "tools/simulate/assembly.hpp"
#include "tools/simulate/group_timing.hpp"

namespace troupe {

class PdCluster {
 public:
  struct Options {
    MakeWorld make_world = heap_world;
    bool trace_hash = true;
    /// Instead of the plan's: a trace, sessions, shared prefixes, whose hits are found block by
    /// block and not as the plan's share.
    std::optional<TrafficPlan> load;
    std::function<void(Time, const Envelope&)> observer;  ///< of deliveries; may be empty
    /// Called so often in virtual time, and at the end; may be empty.
    std::function<void(PdCluster&)> on_sample;
    Duration sample_every = seconds(1);
  };

  /// kInvalid: policies that are not there, a load that cannot be, a trace that cannot be read, a
  /// table of step times that is not there or beside constants of the formula.
  static Result<std::unique_ptr<PdCluster>> make(const ClusterPlan& plan, Options options);
  ~PdCluster();

  /// Runs load and faults to the end, and until nothing is held any more.
  /// Errors: kDeadline, if the load has not ended after SimulatedCluster::kLongest.
  Status run();
  void run_until(Time until);

  const ClusterPlan& plan() const { return plan_; }
  World& world() { return *world_; }
  const TrafficCore& traffic() { return world_->core<TrafficCore>(traffic_); }
  const SimulationNotes& notes() const { return notes_; }
  const GroupCost& cost() const { return *cost_; }
  /// Of step times; nobody: they are the formula's.
  const TimingTable* table() const { return timing_.table.get(); }
  const RouteCore& route() { return world_->core<RouteCore>(route_); }
  const FabricCore& fabric() { return world_->core<FabricCore>(wiring_->fabric); }
  const PrefillBalancerCore& prefill_balancer() {
    return world_->core<PrefillBalancerCore>(wiring_->prefill_balancer);
  }
  const DecodeBalancerCore& decode_balancer() {
    return world_->core<DecodeBalancerCore>(wiring_->decode_balancer);
  }
  /// Of the lives that are there now.
  GroupUse prefill_use();
  /// Of each engine's life that is there now.
  std::vector<GroupUse> prefill_uses();
  GroupUse decode_use();
  std::size_t groups_lost() const { return kills_; }
  const std::vector<std::string>& crashes() const { return crashes_; }

  /// What every run must keep; empty: it did. Looked at each second of virtual time and at the end:
  /// sums of loads; one outcome a request; nothing left of those that ended.
  const std::vector<std::string>& broken_rules() const { return broken_; }

 private:
  PdCluster(const ClusterPlan& plan, Options options, StepTiming timing,
            std::shared_ptr<RequestSource> source, const TrafficPlan& traffic, PrefillRule prefill,
            DecodeRule decode, DraftRule drafts);

  void make_devices(DraftRule drafts);
  StreamRef add_device(std::unique_ptr<StepModel> model);
  void start_services(PrefillRule prefill, DecodeRule decode);
  void start_groups(DraftRule drafts);
  void start_front(const TrafficPlan& traffic);
  std::shared_ptr<const PromptMaker> prompts() const;
  std::uint32_t own_cache_blocks() const;
  FabricSpeeds speeds() const;
  PrefillCurve prefill_curve() const;
  DraftBudget::Options draft_options(DraftRule rule) const;
  GroupHostCore::Args host_args() const;
  void carry_out(const GroupFault& fault);
  void check_sums();
  void check_end();
  void expect(const std::string& what, std::uint64_t found, std::uint64_t expected);
  template <class Core>
  Core* group(const ActorRef& host);

  ClusterPlan plan_;
  Options options_;
  std::shared_ptr<RequestSource> source_;  ///< of options_.load
  SimulationNotes notes_;
  StepTiming timing_;
  std::shared_ptr<GroupCost> cost_;
  std::vector<std::unique_ptr<ModelledDevice>> devices_;
  std::vector<StreamRef> streams_;  ///< of engines, then of instances
  std::shared_ptr<PdWiring> wiring_;
  std::vector<ActorRef> engines_;    ///< their hosts
  std::vector<ActorRef> instances_;  ///< their hosts
  ActorRef node_, traffic_, route_, gateway_, stream_table_;
  std::vector<GroupFault> faults_;  ///< by time
  std::size_t next_fault_ = 0;
  std::size_t kills_ = 0;
  std::vector<std::string> crashes_;
  std::vector<std::string> broken_;
  std::unique_ptr<World> world_;  ///< last: it ends before what it uses
};

}  // namespace troupe
