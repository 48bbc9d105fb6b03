// A simulated cluster put together from a scenario: world, devices, nodes, traffic, faults.
//
// The cores are those of production; only devices, recipe and clients are simulated. The first
// node has the gateway; every node has ranks, each on a simulated GPU of its own. The traffic core
// is the first node's front.
//
// Same scenario, same seed: same events, on either driver. Threads: one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "actors/node/node_core.hpp"
#include "actors/traffic/traffic_core.hpp"
#include "runtime/actor/world.hpp"
#include "runtime/device/modelled_device.hpp"
#include "runtime/simulation/cost_model.hpp"
#include "runtime/simulation/scenario.hpp"
#include "tools/simulate/simulation_notes.hpp"

namespace troupe {

/// Makes the driver: heap_world below, or the one that hosts actors in CAF.
using MakeWorld = std::function<std::unique_ptr<World>(WorldOptions)>;
std::unique_ptr<World> heap_world(WorldOptions options);

/// What a scenario may drop: all that travels between nodes.
MessageNames wire_message_names();

class SimulatedCluster {
 public:
  /// What faults have really hit.
  struct FaultCounts {
    std::uint64_t ranks_killed = 0;
    std::uint64_t gateways_killed = 0;
    std::uint64_t streams_killed = 0;
    std::uint64_t requests_killed = 0;
    std::uint64_t messages_dropped = 0;
    std::uint64_t kills() const {
      return ranks_killed + gateways_killed + streams_killed + requests_killed;
    }
  };
  struct Options {
    MakeWorld make_world = heap_world;
    bool trace_hash = true;
    std::shared_ptr<StepCost> cost = std::make_shared<CostModel>();
    /// Instead of the scenario's workload. Ranks of this world keep no prefixes: what prompts share
    /// is computed each time.
    std::optional<TrafficPlan> load;
    /// Also called at every delivery.
    std::function<void(Time, const Envelope&)> observer;
  };
  /// Longest virtual time that a run may take; longer is a failure of the scenario.
  static constexpr Duration kLongest = seconds(10'000'000);

  /// Errors: a load that cannot be (traffic_plan.hpp), a trace that cannot be read.
  static Result<std::unique_ptr<SimulatedCluster>> make(const Scenario& scenario, Options options);
  ~SimulatedCluster();

  /// Runs load and faults to the end, then as long as the longest back-stop may take.
  /// Errors: kDeadline, if the load has not ended after kLongest.
  Status run();
  /// Runs to a point of virtual time, with the faults until then.
  void run_until(Time until);
  /// The next event, or the next kill. False: nothing is left.
  bool step();
  /// After the load: as long as the longest back-stop may take.
  void finish();
  /// How often the load's end is looked for.
  Duration slice() const;
  /// Gateway, stream table, ranks.
  std::vector<ActorRef> notable() const;

  World& world() { return *world_; }
  const TrafficCore& traffic() { return world_->core<TrafficCore>(traffic_); }
  const SimulationNotes& notes() const { return notes_; }
  const StepCost& cost() const { return *options_.cost; }
  const FaultCounts& faults() const { return counts_; }
  /// Actors that ended by a failed assertion or an exception: none is ever expected.
  const std::vector<std::string>& crashes() const { return crashes_; }
  const Scenario& scenario() const { return scenario_; }

  /// Latest lives.
  const std::vector<ActorRef>& ranks() const { return ranks_; }
  const ActorRef& gateway() const { return gateway_; }
  const ActorRef& streams() const { return streams_; }
  /// The request that was started last.
  const ActorRef& last_request() const { return request_; }
  const ActorRef& root(std::size_t node) const { return roots_.at(node); }
  const ActorRef& traffic_ref() const { return traffic_; }
  /// Actors that live as long as the cluster.
  std::size_t fixed_actors() const;

 private:
  SimulatedCluster(const Scenario& scenario, Options options, const TrafficPlan& plan,
                   std::shared_ptr<RequestSource> source);

  void make_devices();
  void start(const TrafficPlan& plan, std::shared_ptr<RequestSource> source);
  NodeCore::Args node_args(std::uint32_t node) const;
  void see(Time now, const Envelope& envelope);
  void see_birth(const ActorRef& ref);
  bool drops(const Envelope& envelope);
  void carry_out(const Fault& fault);
  const ActorRef& victim(FaultKind kind, std::uint64_t*& count);

  Scenario scenario_;
  Options options_;
  SimulationNotes notes_;
  std::vector<std::unique_ptr<ModelledDevice>> devices_;
  std::vector<StreamRef> streams_of_devices_;
  Rng fault_rng_;
  Rng drop_rng_;
  std::vector<Fault> kills_;  ///< by time
  std::size_t next_kill_ = 0;
  FaultCounts counts_;
  std::vector<std::string> crashes_;
  ActorRef traffic_;
  std::vector<ActorRef> roots_;
  std::vector<ActorRef> ranks_;
  ActorRef gateway_;
  ActorRef streams_;
  ActorRef request_;
  std::unique_ptr<World> world_;  ///< last: it ends before what it uses
};

/// The load that a workload describes; whether it can be is not checked. Errors: its objectives.
Result<TrafficPlan> traffic_plan(const Workload& load, std::uint64_t seed);

}  // namespace troupe
