// What every run of a simulated cluster keeps, and where it is looked at.
//
// After each event: what the event's actor touched. At each virtual second, or after each event if
// asked: everything, orphans every kOrphansEvery times. At the end: nothing is left.
//
// Rules
// 1. A request has one terminal outcome: outcomes and live ones are those that were
//    started, always.
// 2. Tokens of an answer are contiguous. Where messages may be lost an answer may be torn; then it
//    fails.
// 3. No orphaned lease: what balancers and groups have of a request whose flow has ended goes
//    within kOrphanMost (kLossyOrphanMost where messages may be lost; a silent node has time until
//    it can be heard).
//    So does what vision balancer and encoder machines have of an image that the route gave up.
// 4. Bounds: rows of the route, of a GPU, of the stream table; requests in the gateway;
//    waiting ones.
// 5. Sums: rows of the decode balancer's GPUs are its tickets that are placed; quotas of ranks
//    add up to the balancer's; transfers are those that somebody waits for, and writes; patches of
//    encoder GPUs are those of the images that the vision balancer placed.
// 6. Little's law, at the end.
//
// Cost: a comparison or two an event, a few hash look-ups where a service is touched; the sweep is
// O(live requests) a virtual second. Threads: the world's.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/base/id_map.hpp"
#include "runtime/simulation/cluster_plan.hpp"
#include "tools/simulate/judge.hpp"
#include "tools/simulate/pd_actors.hpp"
#include "tools/simulate/pd_faults.hpp"

namespace troupe {

class DecodeBalancerCore;
class FabricCore;
class TrafficCore;
class RouteCore;

class PdInvariants {
 public:
  static constexpr Duration kOrphanMost = seconds(1);
  static constexpr Duration kLossyOrphanMost = seconds(15);
  static constexpr std::uint64_t kOrphansEvery = 5;

  /// Both outlive it.
  PdInvariants(const ClusterPlan& plan, const PdActors& actors, const PdFaults& faults);

  /// An event was carried out. The actor: whom it reached; nullptr if it is not there any more.
  void after(const Envelope& envelope, Actor* actor);
  /// Everything that holds at any time.
  void sweep();
  /// Everything that holds when the load is over and nothing moves any more.
  void at_end(const std::vector<std::string>& crashes);

  const std::vector<std::string>& broken() const { return judge_.lines(); }
  void say(std::string line) { judge_.say(std::move(line)); }
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  void check_front(const ActorRef& touched, Actor& actor);
  void check_group(const Envelope& envelope, Actor& actor);
  void check_outcomes(const TrafficCore& traffic);
  void check_tickets(const DecodeBalancerCore& balancer);
  void check_transfers(const FabricCore& fabric);
  void check_tokens(const TokenBatch& batch);
  void check_sums();
  void check_groups();
  void check_orphans();
  void note_orphan(const char* what, const char* where, std::uint64_t id);
  void check_images();
  void check_encoders();
  void check_image_orphans(const RouteCore& route);
  void check_no_images_left();
  void check_nothing_left();
  void check_groups_are_empty();
  void at_most(const char* what, std::uint64_t found, std::uint64_t most) {
    if (found > most) tell_too_many(what, found, most);
  }
  void tell_too_many(const char* what, std::uint64_t found, std::uint64_t most);
  /// Called after nearly every event: the usual case costs a comparison.
  void equal(const char* what, std::uint64_t found, std::uint64_t expected) {
    if (found != expected) tell_unequal(what, found, expected);
  }
  void tell_unequal(const char* what, std::uint64_t found, std::uint64_t expected);

  ClusterPlan plan_;
  const PdActors& actors_;
  const PdFaults& faults_;
  Judge judge_;
  IdMap<RequestId, std::uint32_t> tokens_;  ///< of its answer so far
  std::uint64_t torn_ = 0;                  ///< answers with a gap
  using Orphan = std::pair<std::string, std::uint64_t>;
  std::map<Orphan, Time> orphans_;  ///< since when
  std::map<Orphan, Time> found_;    ///< in the sweep that runs
  std::uint64_t looked_at_ = 0;
  std::uint64_t sweeps_ = 0;
};

}  // namespace troupe
