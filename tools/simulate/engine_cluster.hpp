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
#include "runtime/simulation/engine_model.hpp"
#include "runtime/simulation/engine_plan.hpp"
#include "tools/simulate/answer_rate.hpp"
#include "tools/simulate/assembly.hpp"
#include "tools/simulate/cluster_front.hpp"
#include "tools/simulate/group_timing.hpp"

namespace troupe {

class EngineCluster {
 public:
  struct Options {
    MakeWorld make_world = heap_world;
    bool trace_hash = true;
    std::function<void(Time, const Envelope&)> observer;  ///< hears of each delivery
    /// Of steps; nobody: as the plan's `timing` says.
    std::shared_ptr<GroupCost> cost;
    /// Instead of the plan's: a trace, sessions, shared prefixes.
    std::optional<TrafficPlan> load;
    /// Called so often in virtual time; may be empty.
    std::function<void(EngineCluster&)> on_sample;
    Duration sample_every = seconds(1);
  };

  /// kInvalid: a load that cannot be, a trace that cannot be read, a table of step times that is
  /// not there.
  static Result<std::unique_ptr<EngineCluster>> make(const EnginePlan& plan, Options options);
  ~EngineCluster();

  /// Runs the load to its end, and until nothing is held any more.
  /// Errors: kDeadline, if it has not ended after SimulatedCluster::kLongest.
  Status run();
  // The same in pieces (driven_run.hpp).
  bool step();
  void run_until(Time until);
  void finish();
  Duration slice() const { return options_.sample_every; }
  std::vector<ActorRef> notable() const;

  const EnginePlan& plan() const { return plan_; }
  World& world() { return *world_; }
  const TrafficCore& traffic() { return world_->core<TrafficCore>(traffic_); }
  const SimulationNotes& notes() const { return notes_; }
  /// Of step times; nobody: they are the formula's.
  const TimingTable* table() const { return timing_.table.get(); }
  /// What the engines did, warm-up included, up to the load's end; while it goes on, up to now, of
  /// steps under way the part that has passed.
  GroupUse use() { return at_end_ ? *at_end_ : so_far(); }
  /// Of that time.
  double used_seconds() { return ((at_end_ ? ended_at_ : world_->now()) - Time()).seconds(); }
  /// Sums over the engines, now.
  struct Held {
    std::size_t jobs = 0;
    std::size_t rows = 0;  ///< that decode
    double kv_tokens = 0;
    double tokens_asked = 0;
    double tokens_hit = 0;
  };
  Held held();
  /// Sampled each `sample_every`.
  const AnswerRate& answer_rate() const { return answer_rate_; }
  /// Rows that decode, of an average engine over the whole run.
  double mean_decode_rows();
  /// Pool, hits, queue, cost and where it comes from.
  ReportLines lines();
  /// What every run must keep: one outcome a request, nothing left. Empty: it did.
  std::vector<std::string> broken_rules();

 private:
  EngineCluster(const EnginePlan& plan, Options options, StepTiming timing, OpenedLoad load);
  void start(const TrafficPlan& traffic);
  void sample();
  GroupUse so_far();

  EnginePlan plan_;
  Options options_;
  std::shared_ptr<RequestSource> source_;  ///< of options_.load
  SimulationNotes notes_;
  StepTiming timing_;
  std::vector<std::unique_ptr<ModelledDevice>> devices_;
  std::vector<const EngineModel*> models_;  ///< the devices'
  std::vector<StreamRef> streams_;
  std::vector<ActorRef> engines_;
  ActorRef traffic_, node_;
  FrontSeen seen_;
  std::optional<GroupUse> at_end_;  ///< since the load has ended
  Time ended_at_;
  Time next_sample_;
  AnswerRate answer_rate_;
  std::unique_ptr<World> world_;  ///< last: it ends before what it uses
};

}  // namespace troupe
