// The protocol of the stream table: the one writer of running answers.
//
//   request → streams   OpenRow (this node only), FailRow, CloseRow
//   rank → streams      TokenBatch;   streams → rank  BatchTaken, ParkRow; CancelRow of a choice
//                                                     that a stop string ended before the others
//   session → streams   SessionDrained
//   streams → request   RowClosed: exactly one for an OpenRow, unless CloseRow came first
//   streams → store     KeepResponse
//   streams → session   SessionBegin, SessionWrite, SessionEnd, SessionCut, SessionRespond
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/gateway/session_messages.hpp"
#include "actors/rank/rank_messages.hpp"

namespace troupe {

class AnswerFormat;

/// How a row's answer is written. Made by the request's preparation; never leaves the node.
struct AnswerPlan {
  std::shared_ptr<const AnswerFormat> format;
  static void fields(auto&, auto&&) {}
};

/// One row of the table a request, whatever number of choices it has.
struct OpenRow {
  static constexpr MessageInfo info{0x0401, "open_row"};
  RequestId request;
  ActorRef owner;
  ActorRef session;
  std::uint64_t exchange = 0;
  ActorRef rank;
  Time arrived;  ///< when the request came in, for TTFT
  std::uint32_t prompt_tokens = 0;
  AnswerPlan answer;
  /// Rows of further choices; the first choice's row has the request's own id.
  std::vector<RequestId> more_rows;
  ActorRef store;     ///< where an answer goes that is to be kept
  std::string model;  ///< as the client named it
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("owner", self.owner);
    visit("session", self.session);
    visit("exchange", self.exchange);
    visit("rank", self.rank);
    visit("arrived", self.arrived);
    visit("prompt_tokens", self.prompt_tokens);
    visit("answer", self.answer);
    visit("more_rows", self.more_rows);
    visit("store", self.store);
    visit("model", self.model);
  }
};

/// Ends a row's answer with an error that the client sees.
struct FailRow {
  static constexpr MessageInfo info{0x0402, "fail_row"};
  RequestId request;
  Code code = Code::kInternal;
  std::string message;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("code", self.code);
    visit("message", self.message);
  }
};

/// Forgets a row: its client has gone. The session hears in a SessionCut what there was of it.
struct CloseRow {
  static constexpr MessageInfo info{0x0403, "close_row"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

enum class CloseReason : std::uint8_t {
  kFinished = 0,  ///< the rank ended the row
  kStopString,    ///< a stop string matched: the rank does not know yet
  kFailed,        ///< an error was written
  kSlowClient,    ///< it was parked for too long
};

struct RowClosed {
  static constexpr MessageInfo info{0x0404, "row_closed"};
  RequestId request;
  CloseReason reason = CloseReason::kFinished;
  std::uint32_t output_tokens = 0;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("reason", self.reason);
    visit("output_tokens", self.output_tokens);
  }
};

using StreamTableProtocol = Protocol<Started, OpenRow, FailRow, CloseRow, TokenBatch,
                                     SessionDrained, TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
