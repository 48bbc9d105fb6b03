// The protocol of a request actor.
//
//   gateway → request    its arguments, at birth
//   compute → request    Done<Prepared>
//   request → gateway    PlaceRequest;  gateway → request  Placed or NotPlaced
//   rank → request       RowRejected, Down
//   streams → request    RowClosed, Down
//   session → request    SessionGone
//   operator → request   CancelRequest
#pragma once

#include <string>
#include <vector>

#include "actors/stream_table/stream_messages.hpp"

namespace troupe {

/// What a request's body asks for, ready for a rank; or an answer that needs none.
struct Prepared {
  static constexpr MessageInfo info{0x0201, "prepared"};
  std::string model;
  std::vector<TokenId> prompt;
  std::uint32_t prompt_length = 0;
  std::uint32_t max_tokens = 0;  ///< 0: up to the context's end
  std::vector<TokenId> stop_ids;
  RowSampling sampling;
  std::string script;
  AnswerPlan answer;
  std::uint16_t reply_status = 0;  ///< not 0: the whole answer, a refusal or a count of tokens
  std::string reply_body;
  static void fields(auto& self, auto&& visit) {
    visit("model", self.model);
    visit("prompt", self.prompt);
    visit("prompt_length", self.prompt_length);
    visit("max_tokens", self.max_tokens);
    visit("stop_ids", self.stop_ids);
    visit("sampling", self.sampling);
    visit("script", self.script);
    visit("answer", self.answer);
    visit("reply_status", self.reply_status);
    visit("reply_body", self.reply_body);
  }
};

struct PlaceRequest {
  static constexpr MessageInfo info{0x0202, "place_request"};
  RequestId request;
  std::string model;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("model", self.model);
  }
};

struct Placed {
  static constexpr MessageInfo info{0x0203, "placed"};
  RequestId request;
  ActorRef rank;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("rank", self.rank);
  }
};

struct NotPlaced {
  static constexpr MessageInfo info{0x0204, "not_placed"};
  RequestId request;
  Code code = Code::kUnavailable;
  std::string message;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("code", self.code);
    visit("message", self.message);
  }
};

struct CancelRequest {
  static constexpr MessageInfo info{0x0205, "cancel_request"};
  RequestId request;
  std::string why;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("why", self.why);
  }
};

using RequestProtocol =
    Protocol<Started, Done<Prepared>, Placed, NotPlaced, RowRejected, RowClosed, SessionGone,
             CancelRequest, TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
