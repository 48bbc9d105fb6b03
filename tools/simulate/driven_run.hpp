// A simulated run, as whoever drives it sees it: time, events, how far it is.
//
// Both clusters (assembly.hpp, pd_cluster.hpp) are driven through this: run_control.hpp pauses
// them, steps and asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/traffic/traffic_core.hpp"
#include "runtime/actor/world.hpp"

namespace troupe {

class DrivenRun {
 public:
  virtual ~DrivenRun() = default;
  virtual World& world() = 0;
  virtual const TrafficCore& traffic() = 0;
  /// The next event, or the next fault. False: nothing is left to happen.
  virtual bool step() = 0;
  /// Faults included.
  virtual void run_until(Time until) = 0;
  /// After the load: until nothing is held any more.
  virtual void finish() = 0;
  /// How often the load's end is looked for.
  virtual Duration slice() = 0;
  /// Actors that are worth a look: services, groups or ranks.
  virtual std::vector<ActorRef> notable() = 0;

  bool ended() { return traffic().ended(); }
};

template <class Cluster>
class DrivenCluster final : public DrivenRun {
 public:
  explicit DrivenCluster(Cluster& cluster) : cluster_(cluster) {}

  World& world() override { return cluster_.world(); }
  const TrafficCore& traffic() override { return cluster_.traffic(); }
  bool step() override { return cluster_.step(); }
  void run_until(Time until) override { cluster_.run_until(until); }
  void finish() override { cluster_.finish(); }
  Duration slice() override { return cluster_.slice(); }
  std::vector<ActorRef> notable() override { return cluster_.notable(); }

 private:
  Cluster& cluster_;
};

}  // namespace troupe
