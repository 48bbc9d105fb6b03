// Route: takes requests through a cluster with prefill and decode apart.
//
// To gateway, requests and stream table it is a rank (rank_messages.hpp): they need not know how
// many GPUs stand behind it. Each row is a flow here:
//
//   queued ─pulled→ fetching ─→ prefilling ─ended→ placing ─reserved→ pushing ─→ decoding ─→ end
//      the KV's way:   the hit, from storage           the prompt's, to decode
//
// Images are encoded beside the fetch: the route asks for encoders in the prefill machine's name
// (seed 000), and a flow whose fetch is over before them is `encoding` (route_images.cpp).
//
// It is the entrypoint too: prefix_index.hpp says how much of a prompt is in the store. The place
// on a decode GPU is asked for by the engine when the last chunk is in a step, so that it is there
// when the prompt is computed. Without a hit nothing is fetched.
//
// Leases: the route owns the work at the balancers, the rows at engines and instances, the
// images at encoders, the transfers. All of them watch it: its end frees everything. It watches
// each row's request, whose end is the flow's: it then takes back what the flow has.
//
// When a group is lost: before prefill has ended, the balancer hands the request to another engine
// (a PrefillAssigned with a higher generation); while its KV is pushed or decoded it begins anew
// with its prefix from the store (seed 000: re-routing of requests, not restarts), at most
// kReroutesMost times. The client keeps what it has: tokens go on where they stopped.
//
// Between nodes messages may be lost, and a group may be frozen. So each wait ends: kSilent after a
// flow's last step the route asks its group (route_watch.cpp), kAsksMost times in a row; what the
// group has not, or does not say, begins anew. A stop is repeated until the group confirms it. The
// flow's own deadline is the back-stop of everything.
//
// Invariants
// 1. At most `rows_most` flows live; more rows are rejected.
// 2. The stream table gets exactly one end of a row: from an engine or instance, or from here.
// 3. A flow has at most one transfer under way.
// 4. A row's parking is not passed on: its tokens come in two batches, and KV costs nothing more.
//
// Files: route_core.cpp (beginning and end), route_steps.cpp (the way between), route_images.cpp,
// route_watch.cpp (silence).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/decode_balancer/decode_messages.hpp"
#include "actors/gateway/gateway_messages.hpp"
#include "actors/pd/image_table.hpp"
#include "actors/pd/pd_wiring.hpp"
#include "actors/pd/prefix_index.hpp"
#include "actors/prefill_balancer/prefill_messages.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/base/id_map.hpp"

namespace troupe {

class RouteCore {
 public:
  using Accepts =
      Protocol<Started, SubmitRow, CancelRow, ParkRow, BatchTaken, PrefillAssigned, PrefillRefused,
               BytesMoved, PrefillEnded, DecodeReserved, DecodeNotReserved, DecodeReservationLost,
               DecodeEnded, DecodeRefused, EncoderChosen, EncodeRefused, PatchesEncoded,
               EncodePending, GroupHas, GroupStopped, TimerFired, Down, Undeliverable>;
  struct Args {
    ActorRef node;  ///< hears of it as of any rank
    std::string model;
    std::uint32_t context_max = 0;
    std::uint32_t rows_most = 1u << 20;
    PrefixIndex::Options prefixes;
    std::shared_ptr<const PdWiring> wiring;
  };
  static constexpr const char* kKind = "route";
  static constexpr std::uint32_t kReroutesMost = 2;
  static constexpr Duration kLook = seconds(1);     ///< how often silence is looked for
  static constexpr Duration kSilent = seconds(10);  ///< as long as a reservation is held
  static constexpr std::uint32_t kAsksMost = 3;
  static constexpr std::uint32_t kStopsMost = 60;  ///< a group that is silent for longer is lost

  explicit RouteCore(const Args& args) : args_(args), prefixes_(args.prefixes) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const SubmitRow& submit, Context& context, Effects& out);
  void on(const CancelRow& cancel, Context& context, Effects& out);
  void on(const ParkRow&, Context&, Effects&) {}
  void on(const BatchTaken&, Context&, Effects&) {}
  void on(const PrefillAssigned& assigned, Context& context, Effects& out);
  void on(const PrefillRefused& refused, Context& context, Effects& out);
  void on(const BytesMoved& moved, Context& context, Effects& out);
  void on(const PrefillEnded& ended, Context& context, Effects& out);
  void on(const DecodeReserved& reserved, Context& context, Effects& out);
  void on(const DecodeNotReserved& refused, Context& context, Effects& out);
  void on(const DecodeReservationLost& lost, Context& context, Effects& out);
  void on(const DecodeEnded& ended, Context& context, Effects& out);
  void on(const DecodeRefused& refused, Context& context, Effects& out);
  void on(const EncoderChosen& chosen, Context& context, Effects& out);
  void on(const EncodeRefused& refused, Context& context, Effects& out);
  void on(const PatchesEncoded& encoded, Context& context, Effects& out);
  void on(const EncodePending& pending, Context& context, Effects& out);
  void on(const GroupHas& has, Context& context, Effects& out);
  void on(const GroupStopped& stopped, Context& context, Effects& out);
  void on(const TimerFired& fired, Context& context, Effects& out);
  void on(const Down& down, Context& context, Effects& out);
  void on(const Undeliverable& lost, Context& context, Effects& out);

  void fetch_ahead(const PrefillAssigned& assigned) const { flows_.fetch(assigned.request); }
  void fetch_ahead(const BytesMoved& moved) const { flows_.fetch(request_of(moved.move)); }
  void fetch_ahead(const PrefillEnded& ended) const { fetch_rows(ended); }
  void fetch_ahead(const DecodeReserved& reserved) const { fetch_rows(reserved); }
  void fetch_ahead(const DecodeEnded& ended) const { fetch_rows(ended); }

  std::string describe() const { return "flows=" + std::to_string(flows_.size()); }
  std::size_t flows() const { return flows_.size(); }
  bool has(RequestId request) const { return flows_.contains(request); }
  std::size_t stops() const { return stops_.size(); }
  const ImageTable& images() const { return images_; }
  std::uint32_t rows_most() const { return args_.rows_most; }
  const PrefixIndex& prefixes() const { return prefixes_; }

 private:
  enum class State : std::uint8_t {
    kQueued,
    kFetching,
    kEncoding,  ///< its hit is there, of its images some are not
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
  struct Flow {
    RequestId request;
    ActorRef owner;    ///< the request actor
    ActorRef streams;  ///< where tokens go
    SealedWork sealed;
    Time deadline;
    std::uint32_t length = 0;
    std::uint32_t output_most = 0;
    std::uint32_t hit = 0;
    Time born;
    Time since;  ///< when it came into its state, or was last heard of
    State state = State::kQueued;
    std::uint8_t asked = 0;    ///< questions to its group without an answer
    bool first_token = false;  ///< its client has it
    bool has_images = false;
    std::uint8_t reroutes = 0;
    std::uint8_t moves = 0;  ///< transfers so far
    std::uint64_t move = 0;  ///< the one under way; 0: none
    Place engine;
    Place place;  ///< on a decode GPU; nobody: none is reserved
  };

  /// A stop that its group has not confirmed.
  struct Stop {
    ActorRef group;
    std::uint32_t sent = 0;
  };
  enum class Pool : std::uint8_t { kPrefill, kDecode };

  static RequestId request_of(std::uint64_t move) { return RequestId(move >> kMovesBits); }
  void fetch_rows(const auto& message) const {
    for (const auto& row : message.rows) flows_.fetch(row.request);
  }
  Flow* find(RequestId request);
  PortId port_of(const Place& place) const {
    return args_.wiring->port_of(place.group.node, place.member);
  }
  void submit(Flow& flow, Context& context, Effects& out);
  void start_prefill(Flow& flow, Context& context, Effects& out);
  void prompt_ended(Flow& flow, bool complete, Context& context, Effects& out);
  void take_place(const ReservedPlace& reserved, Context& context, Effects& out);
  Status check_images(std::size_t images) const;
  void encode_images(Flow& flow, Context& context, Effects& out);
  void abandon_images(const Flow& flow, Context& context, Effects& out);
  void heard(Flow& flow, Context& context);
  void look_after_images(Flow& flow, Context& context, Effects& out);
  void push(Flow& flow, Time now, Effects& out);
  void start_decode(Flow& flow, Context& context, Effects& out);
  void move(Flow& flow, MoveKind kind, PortId from, PortId to, std::uint64_t bytes, Effects& out);
  void stop_move(Flow& flow, Effects& out);
  void release_prefill(RequestId request, Effects& out);
  void release_decode(RequestId request, Effects& out, std::uint32_t output = 0);
  void begin_anew(Flow& flow, const char* why, Context& context, Effects& out);
  void enter(Flow& flow, State state, Time now);
  void look(Context& context, Effects& out);
  void look_after(Flow& flow, Context& context, Effects& out);
  void ask_for_place(const Flow& flow, Context& context, Effects& out);
  /// Tells the group that computes the flow; repeated until it confirms.
  void stop_group(Flow& flow, Context& context, Effects& out);
  void repeat_stops(Effects& out);
  void forget_stop(RequestId request, Pool pool);
  void watch_silence(Context& context, Effects& out);
  /// Takes back all that the flow has, and forgets it.
  void abandon(Flow& flow, Context& context, Effects& out);
  void fail(Flow& flow, Code code, std::string message, Context& context, Effects& out);
  void forget(Flow& flow, Effects& out);

  Args args_;
  PrefixIndex prefixes_;
  IdMap<RequestId, Flow> flows_;
  IdMap<ActorRef, RequestId> by_owner_;  ///< by request actor
  IdMap<std::uint64_t, Stop> stops_;     ///< by request and pool
  ImageTable images_;
  bool looking_ = false;  ///< the timer is set
};

}  // namespace troupe
