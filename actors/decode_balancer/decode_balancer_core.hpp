// Decode balancer: gives each request a place on one GPU of all decode instances.
//
// Protocol: decode_messages.hpp. What decides is in decode_placer.hpp (queue, rounds, reservations)
// and decode_policy.hpp (which GPU); this core speaks for them: owners, ranks, deadlines.
//
// When a round runs: at most `tick` after a request came or room was made, at once when
// `round_at_once` requests wait (ALGOS 1.3: 1 ms, 16). The decision is made before the last chunk
// of a prompt runs, so that the tick is not on the way to the first token.
//
// Invariants
// 1. A ReserveDecode is answered once with a refusal, or with a reservation that is void only after
//    a DecodeReservationLost, a newer DecodeReserved, or its release.
// 2. The end of its owner frees a reservation in any state; nothing is kept for owners that ended.
// 3. The loss of one rank ends its instance here; whoever had started there hears of it.
// 4. A Drain refuses new requests, and ends this actor when it holds no reservation.
#pragma once

#include <map>
#include <string>

#include "actors/balance/owner_table.hpp"
#include "actors/balance/rows_by_owner.hpp"
#include "actors/decode_balancer/decode_messages.hpp"
#include "actors/decode_balancer/decode_placer.hpp"
#include "actors/decode_balancer/output_estimate.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

class DecodeBalancerCore {
 public:
  using Accepts = DecodeBalancerProtocol;
  struct Args {
    DecodeRule rule = DecodeRule::kBalanced;
    DecodeLimits limits;
    Duration tick = milliseconds(1);
    std::uint32_t round_at_once = 16;
    Duration report_stale = seconds(2);  ///< older reports of other balancers' load fade
  };
  static constexpr const char* kKind = "decode_balancer";

  explicit DecodeBalancerCore(const Args& args) : args_(args), placer_(args.rule, args.limits) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const DecodeInstanceJoined& joined, Context& context, Effects& out);
  void on(const DecodeInstanceDrains& drains, Context& context, Effects& out);
  void on(const DecodeInstanceLeft& left, Context& context, Effects& out);
  void on(const ReserveDecode& reserve, Context& context, Effects& out);
  void on(const DecodeStarted& started, Context& context, Effects& out);
  void on(const ReleaseDecode& release, Context& context, Effects& out);
  void on(const DecodeLoadReport& report, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);
  void on(const Drain& drain, Context& context, Effects& out);

  void fetch_ahead(const DecodeStarted& started) const {
    for (const StartedRow& row : started.rows) placer_.fetch(row.request);
  }
  void fetch_ahead(const ReleaseDecode& release) const {
    for (const ReleasedRow& row : release.rows) {
      placer_.fetch(row.request);
      owners_.fetch(row.request);
    }
  }

  const char* phase() const { return draining_ ? "draining" : "serving"; }
  std::string describe() const;
  const DecodePlacer& placer() const { return placer_; }
  const OwnerTable<std::uint8_t>& owners() const { return owners_; }

 private:
  struct Instance {
    std::vector<ActorRef> ranks;
    std::vector<GpuId> gpus;
  };

  void end_instance(const ActorRef& instance, const char* why, Context& context, Effects& out);
  using Places = RowsByOwner<DecodeReserved>;
  /// A place that is wanted; `again`: what its owner is told since it asks again.
  Status take(const WantedPlace& row, const ActorRef& owner, Time now, Places& again, Effects& out);
  void refuse(RequestId request, const ActorRef& owner, Error error, Effects& out);
  void tell(const DecodePlacer::Placement& placed, Places& places);
  void forget(RequestId request, Effects& out);
  void want_round(Context& context, Effects& out);
  void run_round(Context& context, Effects& out);
  void run_deadlines(Context& context, Effects& out);
  void watch_deadlines(Effects& out);
  void stop_if_drained(Effects& out);

  Args args_;
  DecodePlacer placer_;
  OutputEstimate output_;
  std::map<ActorRef, Instance> instances_;
  std::map<ActorRef, std::pair<ActorRef, GpuId>> ranks_;  ///< rank → its instance, its GPU
  struct Place {
    ActorRef rank;
    std::uint32_t member = 0;
  };
  std::vector<Place> place_of_;      ///< by GpuId
  OwnerTable<std::uint8_t> owners_;  ///< of each request: its class of traffic
  bool round_due_ = false;
  bool aging_ = false;
  bool draining_ = false;
  std::optional<Time> armed_;  ///< the deadline timer
};

}  // namespace troupe
