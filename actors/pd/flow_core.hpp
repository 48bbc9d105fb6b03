// Flow: takes one request through a cluster with prefill and decode apart.
//
//   checking ─hit→ queued ─pulled→ fetching ─→ prefilling ─ended→ placing ─reserved→ pushing
//      the KV's way:                 the hit, from storage           the prompt's, to decode
//                                                                 └─→ decoding ─ended→ end
//
// The place on a decode GPU is asked for when the last chunk is in a step, so that it is there when
// the prompt is computed. Without a hit nothing is fetched.
//
// It owns the leases: its work at both balancers, its row at an engine or an instance, its
// transfer. All of them watch it; its end, for any reason and in any state, frees everything. It
// watches the request actor, whose end is its own.
//
// When a group is lost: before prefill has ended, the balancer hands the request to another engine
// (a PrefillAssigned with a higher generation); while its KV is pushed or decoded it begins anew
// with its prefix from the store (seed 000: re-routing of requests, not restarts), at most
// kReroutesMost times. The client keeps what it has: tokens go on where they stopped.
//
// Invariants
// 1. The stream table gets exactly one end of the row: from an engine or instance, or from here.
// 2. A flow has at most one transfer under way.
#pragma once

#include <memory>
#include <string>

#include "actors/decode_balancer/decode_messages.hpp"
#include "actors/pd/pd_wiring.hpp"
#include "actors/prefill_balancer/prefill_messages.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

class FlowCore {
 public:
  using Accepts =
      Protocol<Started, CancelRow, PrefixChecked, PrefillAssigned, PrefillRefused, BytesMoved,
               PrefillScheduled, PrefillEnded, DecodeReserved, DecodeNotReserved,
               DecodeReservationLost, DecodeEnded, Down, Undeliverable>;
  struct Args {
    RequestId request;
    ActorRef owner;    ///< the request actor
    ActorRef streams;  ///< where tokens go
    ActorRef route;    ///< in whose name
    std::uint32_t length = 0;
    std::uint32_t output_most = 0;
    SealedWork sealed;
    Duration time_left;
    std::shared_ptr<const PdWiring> wiring;
  };
  static constexpr const char* kKind = "flow";
  static constexpr std::uint32_t kReroutesMost = 2;

  explicit FlowCore(const Args& args) : args_(args) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const CancelRow& cancel, Context& context, Effects& out);
  void on(const PrefixChecked& checked, Context& context, Effects& out);
  void on(const PrefillAssigned& assigned, Context& context, Effects& out);
  void on(const PrefillRefused& refused, Context& context, Effects& out);
  void on(const BytesMoved& moved, Context& context, Effects& out);
  void on(const PrefillScheduled& scheduled, Context& context, Effects& out);
  void on(const PrefillEnded& ended, Context& context, Effects& out);
  void on(const DecodeReserved& reserved, Context& context, Effects& out);
  void on(const DecodeNotReserved& refused, Context& context, Effects& out);
  void on(const DecodeReservationLost& lost, Context& context, Effects& out);
  void on(const DecodeEnded& ended, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);

  const char* phase() const;
  std::string describe() const;

 private:
  enum class State : std::uint8_t {
    kChecking,
    kQueued,
    kFetching,
    kPrefilling,
    kPlacing,
    kPushing,
    kDecoding
  };
  struct Place {
    ActorRef group;
    std::uint32_t member = 0;
    std::uint32_t generation = 0;
  };

  Duration time_left(Time now) const { return deadline_ - now; }
  PortId port_of(const Place& place) const {
    return args_.wiring->port_of(place.group.node, place.member);
  }
  void submit(Context& context, Effects& out);
  void start_prefill(Effects& out);
  void push(Effects& out);
  void start_decode(Effects& out);
  void move(MoveKind kind, PortId from, PortId to, std::uint64_t bytes, Effects& out);
  void stop_move(Effects& out);
  void begin_anew(const char* why, Context& context, Effects& out);
  void fail(Code code, std::string message, Effects& out);
  void finish(std::uint32_t output, Effects& out);

  Args args_;
  State state_ = State::kChecking;
  Time deadline_;
  std::uint32_t hit_ = 0;
  Place engine_;
  std::optional<Place> place_;  ///< on a decode GPU
  bool reserving_ = false;
  bool first_token_ = false;  ///< its client has it
  std::uint64_t move_ = 0;    ///< the transfer under way; 0: none
  std::uint32_t moves_ = 0;
  std::uint32_t reroutes_ = 0;
};

}  // namespace troupe
