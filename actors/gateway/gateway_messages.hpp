// The protocol of a gateway beside that of sessions (session_messages.hpp).
//
//   node → gateway      RankJoined, RankLeft, StreamsStarted, ResponsesStarted
//   request → gateway   PlaceRequest; its Down is the end of its load
//   operator → gateway  CancelRequest;  gateway → operator  CancelAnswered
//   gateway → front     GatewayHealth: at its start and when it changes
//                       ExchangeLost: its request ended otherwise than by stopping itself
#pragma once

#include <string>
#include <vector>

#include "actors/request/request_messages.hpp"

namespace troupe {

struct RankJoined {
  static constexpr MessageInfo info{0x0110, "rank_joined"};
  ActorRef rank;
  std::vector<std::string> models;  ///< names it serves; "script/*" stands for every script
  std::uint32_t capacity = 0;       ///< rows that it runs and queues
  std::uint32_t context_max = 0;    ///< tokens
  static void fields(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("models", self.models);
    visit("capacity", self.capacity);
    visit("context_max", self.context_max);
  }
};

struct RankLeft {
  static constexpr MessageInfo info{0x0111, "rank_left"};
  ActorRef rank;
  static void fields(auto& self, auto&& visit) { visit("rank", self.rank); }
};

/// The node's stream table has begun a life.
struct StreamsStarted {
  static constexpr MessageInfo info{0x0112, "streams_started"};
  ActorRef streams;
  static void fields(auto& self, auto&& visit) { visit("streams", self.streams); }
};

/// To whoever asked for the end of a request.
struct CancelAnswered {
  static constexpr MessageInfo info{0x0113, "cancel_answered"};
  RequestId request;
  bool found = false;  ///< it was under way, and ends now
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("found", self.found);
  }
};

/// What a node can do for clients now; health.hpp says what each health path answers.
enum class ServingState : std::uint8_t { kStarting = 0, kNoRank, kServing, kDraining };

struct GatewayHealth {
  static constexpr MessageInfo info{0x0114, "gateway_health"};
  ServingState state = ServingState::kStarting;
  static void fields(auto& self, auto&& visit) { visit("state", self.state); }
};

/// Nobody may answer this exchange any more, if nobody has.
struct ExchangeLost {
  static constexpr MessageInfo info{0x0115, "exchange_lost"};
  std::uint64_t exchange = 0;
  static void fields(auto& self, auto&& visit) { visit("exchange", self.exchange); }
};

using GatewayProtocol =
    Protocol<Started, HttpArrived, SessionGone, PlaceRequest, RankJoined, RankLeft, StreamsStarted,
             ResponsesStarted, CancelRequest, TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
