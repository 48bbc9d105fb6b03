// Carries out the fault plan of a simulated cluster (runtime/simulation/fault_plan.hpp).
//
// Kills, freezes, partitions, slow groups and slow links are done to the world at their time;
// losses are decided for each message between nodes.
//
// Lost nodes. A node that was silent (frozen or cut off) for `node_lost_s` is given up by its
// peers, as links do in life: whoever watches across hears of an end. When it can be heard again it
// is fenced: its group is killed before it can say anything, and starts up again.
//
// Invariants: (1) what overlaps on one target ends with the last of it; of several slowdowns the
// slowest counts; (2) after stop() nothing new breaks and nothing is lost; what is frozen or slow
// ends at its time. Same plan, same seed: same faults. Threads: one.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "actors/pd/group_host_core.hpp"
#include "runtime/actor/world.hpp"
#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/fault_marks.hpp"
#include "runtime/simulation/fault_schedule.hpp"
#include "runtime/simulation/group_models.hpp"
#include "tools/simulate/pd_actors.hpp"

namespace troupe {

/// What faults can be done to. Groups stand in the order of their nodes: engines, instances,
/// encoder machines; the first one is on node 1.
struct FaultParts {
  World* world = nullptr;
  const PdActors* front = nullptr;  ///< outlives the faults: who gateway and stream table are now
  ActorRef fabric;
  std::vector<ActorRef> hosts;
  std::vector<std::vector<GroupModel*>> models;  ///< of each group's devices
  std::function<void(std::size_t group)> before_kill;
};

class PdFaults {
 public:
  struct Counts {
    std::uint64_t groups_killed = 0;
    std::uint64_t services_killed = 0;
    std::uint64_t freezes = 0;
    std::uint64_t partitions = 0;
    std::uint64_t slowdowns = 0;
    std::uint64_t nodes_lost = 0;
    std::uint64_t messages_dropped = 0;
  };

  /// kInvalid: a fault names a message that does not travel between nodes.
  static Status check(const ClusterPlan& plan);

  explicit PdFaults(const ClusterPlan& plan);
  /// Before the first fault.
  void attach(FaultParts parts) { parts_ = std::move(parts); }

  /// When the next fault begins or ends; nothing: none does.
  std::optional<Time> next() const;
  /// Requires: the world's time is *next().
  void carry_out();
  /// Of a message between nodes: whether it is lost.
  bool drops(const Envelope& envelope);
  bool drop_anything() const { return drops_anything_; }
  /// Whether the plan loses messages, or makes nodes silent.
  bool may_hold_up() const { return holds_up_; }
  /// Whether a group's node cannot be heard now.
  bool silent(std::size_t group) const { return silent_[group].any(); }
  /// Begins no more faults, and loses no more messages by `drop`.
  void stop();

  const Counts& counts() const { return counts_; }
  const FaultMarks& marks() const { return marks_; }

 private:
  struct Silence {
    std::uint32_t freezes = 0;
    std::uint32_t partitions = 0;
    bool lost = false;
    std::uint64_t since = 0;  ///< a number of its own for each silence
    bool any() const { return freezes + partitions > 0; }
  };
  /// A node to be given up, if its silence still is the one with this number.
  struct Verdict {
    std::size_t group;
    std::uint64_t since;
  };

  std::size_t group_of(const ClusterFault& fault, std::uint32_t which) const;
  std::string name_of(std::size_t group) const;
  NodeId node_of(std::size_t group) const { return NodeId(static_cast<std::uint32_t>(group + 1)); }
  FaultPlace place_of(NodeId node) const;
  void begin(const ClusterFault& fault, const FaultSchedule::Moment& moment);
  void end(const ClusterFault& fault, const FaultSchedule::Moment& moment);
  void kill(std::size_t group);
  void kill(FrontService service);
  void begin_silence(std::size_t group);
  void end_silence(std::size_t group, std::uint32_t Silence::*what);
  void give_up(const Verdict& verdict);
  void set_share(const ClusterFault& fault, std::uint32_t which, bool begins);

  using Target = std::pair<int, std::uint32_t>;  ///< a part of the fabric, or a group behind them

  ClusterPlan plan_;
  FaultSchedule schedule_;
  FaultParts parts_;
  std::vector<Silence> silent_;  ///< by group
  std::uint64_t next_silence_ = 0;
  std::multimap<Time, Verdict> verdicts_;
  std::map<Target, std::multiset<double>> shares_;  ///< of the slowdowns under way
  std::multiset<std::uint32_t> drops_;              ///< faults under way, by place in the plan
  bool drops_anything_ = false;
  bool holds_up_ = false;
  Rng drop_rng_;
  Counts counts_;
  FaultMarks marks_;
};

}  // namespace troupe
