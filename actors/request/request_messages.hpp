// The protocol of a request actor.
//
//   gateway → request    its arguments, at birth
//   compute → request    Done<Prepared>
//   request → gateway    PlaceRequest;  gateway → request  Placed or NotPlaced
//   rank → request       RowRejected, Down
//   streams → request    RowClosed, Down
//   session → request    SessionGone
//   request → store      AskResponse, FetchConversation (response_messages.hpp)
//   operator → request   CancelRequest
#pragma once

#include <string>
#include <vector>

#include "actors/responses/response_messages.hpp"
#include "actors/stream_table/stream_messages.hpp"

namespace troupe {

struct MorePrompt {
  SharedTokens prompt;
  std::uint32_t max_tokens = 0;
  static void fields(auto& self, auto&& visit) {
    visit("prompt", self.prompt);
    visit("max_tokens", self.max_tokens);
  }
};

/// What a request's body asks for, ready for a rank; or an answer that needs none.
struct Prepared {
  static constexpr MessageInfo info{0x0201, "prepared"};
  std::string model;
  SharedTokens prompt;
  std::uint32_t prompt_length = 0;
  std::uint32_t max_tokens = 0;          ///< 0: up to the context's end
  std::vector<MorePrompt> more_prompts;  ///< behind the first one
  std::uint32_t choices = 1;             ///< answers to each prompt
  std::uint32_t min_tokens = 0;
  std::vector<TokenId> stop_ids;
  RowSampling sampling;
  std::string script;
  SealedWork sealed;  ///< simulated requests
  AnswerPlan answer;
  std::uint16_t reply_status = 0;  ///< not 0: the whole answer, a refusal or a count of tokens
  std::string reply_body;
  std::string reply_code;  ///< of a refusal
  /// Not empty: nothing else is set; prepare again with the conversation up to this response.
  std::string previous;
  static void fields(auto& self, auto&& visit) {
    visit("model", self.model);
    visit("prompt", self.prompt);
    visit("prompt_length", self.prompt_length);
    visit("max_tokens", self.max_tokens);
    visit("more_prompts", self.more_prompts);
    visit("choices", self.choices);
    visit("min_tokens", self.min_tokens);
    visit("stop_ids", self.stop_ids);
    visit("sampling", self.sampling);
    visit("script", self.script);
    visit("answer", self.answer);
    visit("reply_status", self.reply_status);
    visit("reply_body", self.reply_body);
    visit("reply_code", self.reply_code);
    visit("previous", self.previous);
  }
};

struct PlaceRequest {
  static constexpr MessageInfo info{0x0202, "place_request"};
  RequestId request;
  std::string model;
  std::uint32_t rows = 1;  ///< choices to all prompts
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("model", self.model);
    visit("rows", self.rows);
  }
};

struct Placed {
  static constexpr MessageInfo info{0x0203, "placed"};
  RequestId request;
  ActorRef rank;
  std::vector<RequestId> more_rows;  ///< ids of the rows behind the first
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("rank", self.rank);
    visit("more_rows", self.more_rows);
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

using RequestProtocol = Protocol<Started, Done<Prepared>, Placed, NotPlaced, RowRejected, RowClosed,
                                 SessionGone, ConversationFetched, ResponseAnswered, CancelRequest,
                                 TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
