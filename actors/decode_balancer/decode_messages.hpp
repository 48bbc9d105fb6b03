// The protocol of a decode balancer.
//
//   node → balancer      DecodeInstanceJoined, DecodeInstanceDrains, DecodeInstanceLeft
//   request, or a prefill rank in its name → balancer   ReserveDecode, ReleaseDecode
//   balancer → owner     DecodeReserved or DecodeNotReserved; DecodeReservationLost
//   decode rank → balancer   DecodeStarted, DecodeLoadReport
//
// Invariants: (1) each row of a ReserveDecode gets a DecodeNotReserved, or a row of a
// DecodeReserved, unless it is released or its owner ends before; one that its owner sends again,
// since an answer may have been lost, counts once; (2) a place may come again, with a higher
// generation: the GPU was lost before the start, the older one is void; (3) the balancer watches
// the owner: its end frees the reservation in any state; (4) a rank is named by its reference,
// whose life and incarnation make messages of earlier lives harmless, however late they come.
#pragma once

#include <string>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct DecodeRankCard {
  ActorRef rank;
  std::uint32_t blocks = 0;     ///< KV blocks of 128 tokens
  std::uint32_t rows_most = 0;  ///< the largest batch that keeps the TPOT goal
  static void fields(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("blocks", self.blocks);
    visit("rows_most", self.rows_most);
  }
};

/// An instance is one communication domain: it serves with all of its ranks or not at all. An actor
/// that is all of them (a simulated instance) stands in the list once for each.
struct DecodeInstanceJoined {
  static constexpr MessageInfo info{0x0801, "decode_instance_joined"};
  ActorRef instance;
  std::vector<DecodeRankCard> ranks;
  static void fields(auto& self, auto&& visit) {
    visit("instance", self.instance);
    visit("ranks", self.ranks);
  }
};

/// It goes on with what it has and gets nothing new.
struct DecodeInstanceDrains {
  static constexpr MessageInfo info{0x0802, "decode_instance_drains"};
  ActorRef instance;
  bool draining = true;  ///< false: it is wanted again
  static void fields(auto& self, auto&& visit) {
    visit("instance", self.instance);
    visit("draining", self.draining);
  }
};

struct DecodeInstanceLeft {
  static constexpr MessageInfo info{0x0803, "decode_instance_left"};
  ActorRef instance;
  static void fields(auto& self, auto&& visit) { visit("instance", self.instance); }
};

struct WantedPlace {
  RequestId request;
  std::uint64_t context = 0;      ///< tokens of its KV when it starts to decode
  std::uint32_t output_most = 0;  ///< 0: up to the context's end
  std::uint8_t traffic = 0;       ///< class of traffic (output_estimate.hpp)
  Duration time_left;             ///< how long it may wait for a place
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("context", self.context);
    visit("output_most", self.output_most);
    visit("traffic", self.traffic);
    visit("time_left", self.time_left);
  }
};

/// What a step of prompts asks for goes together.
struct ReserveDecode {
  static constexpr MessageInfo info{0x0804, "reserve_decode"};
  ActorRef owner;  ///< holds the leases; gets the answers
  std::vector<WantedPlace> rows;
  static void fields(auto& self, auto&& visit) {
    visit("owner", self.owner);
    visit("rows", self.rows);
  }
};

struct ReservedPlace {
  RequestId request;
  ActorRef rank;
  std::uint32_t generation = 0;
  Duration time_left;        ///< until the reservation ends if it was not started
  std::uint32_t member = 0;  ///< the rank's place among those that its instance joined with
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("rank", self.rank);
    visit("generation", self.generation);
    visit("time_left", self.time_left);
    visit("member", self.member);
  }
};

/// What a round gave an owner's requests.
struct DecodeReserved {
  static constexpr MessageInfo info{0x0805, "decode_reserved"};
  std::vector<ReservedPlace> rows;
  static void fields(auto& self, auto&& visit) { visit("rows", self.rows); }
};

struct DecodeNotReserved {
  static constexpr MessageInfo info{0x0806, "decode_not_reserved"};
  RequestId request;
  Code code = Code::kUnavailable;
  std::string message;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("code", self.code);
    visit("message", self.message);
  }
};

struct StartedRow {
  RequestId request;
  std::uint32_t generation = 0;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("generation", self.generation);
  }
};

/// The rank has these requests' KV, and runs them: one a step, not one a request.
struct DecodeStarted {
  static constexpr MessageInfo info{0x0807, "decode_started"};
  std::vector<StartedRow> rows;
  static void fields(auto& self, auto&& visit) { visit("rows", self.rows); }
};

struct ReleasedRow {
  RequestId request;
  std::uint32_t output = 0;  ///< tokens that it produced; 0: it was cut short, nothing is learned
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("output", self.output);
  }
};

/// What ended in a step goes together.
struct ReleaseDecode {
  static constexpr MessageInfo info{0x0808, "release_decode"};
  std::vector<ReleasedRow> rows;
  static void fields(auto& self, auto&& visit) { visit("rows", self.rows); }
};

/// kDeadline: not started in time. kLost: the rank is gone, and the KV that was there.
struct DecodeReservationLost {
  static constexpr MessageInfo info{0x0809, "decode_reservation_lost"};
  RequestId request;
  Code code = Code::kLost;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("code", self.code);
  }
};

/// All that a rank holds, whoever placed it there: for where several balancers share ranks.
struct DecodeLoadReport {
  static constexpr MessageInfo info{0x080a, "decode_load_report"};
  ActorRef rank;
  std::uint32_t rows = 0;
  std::uint64_t tokens = 0;
  static void fields(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("rows", self.rows);
    visit("tokens", self.tokens);
  }
};

using DecodeBalancerProtocol =
    Protocol<Started, DecodeInstanceJoined, DecodeInstanceDrains, DecodeInstanceLeft, ReserveDecode,
             DecodeStarted, ReleaseDecode, DecodeLoadReport, TimerFired, Down, Undeliverable,
             Drain>;

}  // namespace troupe
