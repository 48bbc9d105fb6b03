// A simulated cluster of engines that prefill and decode on the same GPUs (engine_plan.hpp).
//
// The first node has gateway, stream table and the clients; each engine is a node of its own. The
// gateway places requests as it does among any ranks. Against the exact world (assembly.hpp), whose
// ranks list each row in each step, an engine here is a sum: much faster, and with the same
// lengths, queues and step times; a test compares the two.
//
// Same plan, same seed: same events, on either driver. Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/pd/engine_core.hpp"
#include "actors/traffic/report_text.hpp"
#include "runtime/simulation/engine_plan.hpp"
#include "runtime/simulation/group_cost.hpp"
#include "tools/simulate/assembly.hpp"

namespace troupe {

class EngineCluster {
 public:
  struct Options {
    MakeWorld make_world = heap_world;
    bool trace_hash = true;
    std::function<void(Time, const Envelope&)> observer;  ///< hears of each delivery
    std::shared_ptr<GroupCost> cost = std::make_shared<CostModel>();
    /// Instead of the plan's: a trace, sessions, shared prefixes.
    std::optional<TrafficPlan> load;
  };

  /// kInvalid: a load that cannot be, a trace that cannot be read.
  static Result<std::unique_ptr<EngineCluster>> make(const EnginePlan& plan, Options options);
  ~EngineCluster();

  /// Runs the load to its end, and until nothing is held any more.
  /// Errors: kDeadline, if it has not ended after SimulatedCluster::kLongest.
  Status run();
  // The same in pieces (driven_run.hpp).
  bool step() { return world_->step(); }
  void run_until(Time until) { world_->run_until(until); }
  void finish();
  Duration slice() const;
  std::vector<ActorRef> notable() const;

  const EnginePlan& plan() const { return plan_; }
  World& world() { return *world_; }
  const TrafficCore& traffic() { return world_->core<TrafficCore>(traffic_); }
  const SimulationNotes& notes() const { return notes_; }
  GroupUse use();
  /// Rows that decode, of an average engine over the whole run.
  double mean_decode_rows();
  /// Pool, hits, queue, cost and where it comes from.
  ReportLines lines();
  /// What every run must keep: one outcome a request, nothing left. Empty: it did.
  std::vector<std::string> broken_rules();

 private:
  EngineCluster(const EnginePlan& plan, Options options, std::shared_ptr<RequestSource> source,
                const TrafficPlan& traffic);
  void start(const TrafficPlan& traffic);

  EnginePlan plan_;
  Options options_;
  std::shared_ptr<RequestSource> source_;  ///< of options_.load
  SimulationNotes notes_;
  std::vector<std::unique_ptr<ModelledDevice>> devices_;
  std::vector<StreamRef> streams_;
  std::vector<ActorRef> engines_;
  ActorRef traffic_, node_, gateway_, stream_table_;
  std::vector<std::string> crashes_;
  std::unique_ptr<World> world_;  ///< last: it ends before what it uses
};

}  // namespace troupe
