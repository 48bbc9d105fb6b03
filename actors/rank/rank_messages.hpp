// The protocol of a rank: rows in, tokens out.
//
//   request → rank      SubmitRow, CancelRow
//   streams → rank      ParkRow, BatchTaken
//   rank → streams      TokenBatch: one a step and gateway node, with the ends of rows
//   rank → request      RowRejected: it was never admitted
//   node → rank         Drain (system message)
//
// Invariants: (1) a submitted row gets either one RowRejected or TokenBatches of which exactly one
// carries its end, unless it is cancelled or its owner ends first; (2) positions of a row's tokens
// in batches are contiguous from 0; (3) the rank watches the owner: its end frees the row.
#pragma once

#include <string>
#include <vector>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/shared_tokens.hpp"
#include "runtime/base/time.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/device/step.hpp"

namespace troupe {

struct SubmitRow {
  static constexpr MessageInfo info{0x0301, "submit_row"};
  RequestId request;
  ActorRef owner;                   ///< the request actor: holds the lease on everything below
  ActorRef streams;                 ///< gets the tokens
  SharedTokens prompt;              ///< or empty, for a simulated request
  std::uint32_t prompt_length = 0;  ///< tokens; equals prompt.size() if that is not empty
  std::uint32_t max_tokens = 0;     ///< 0: up to the context's end
  std::uint32_t min_tokens = 0;     ///< before these no stop_id is sampled
  std::vector<TokenId> stop_ids;    ///< end of sequence and the like; the last token is not text
  RowSampling sampling;
  std::string script;  ///< scripted devices
  Duration time_left;  ///< until the request's deadline
  TraceContext trace;  ///< of the request, for what this rank notes; may be none
  std::string tracestate;
  SealedWork sealed;  ///< simulated requests
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("owner", self.owner);
    visit("streams", self.streams);
    visit("prompt", self.prompt);
    visit("prompt_length", self.prompt_length);
    visit("max_tokens", self.max_tokens);
    visit("min_tokens", self.min_tokens);
    visit("stop_ids", self.stop_ids);
    visit("sampling", self.sampling);
    visit("script", self.script);
    visit("time_left", self.time_left);
    visit("trace", self.trace);
    visit("tracestate", self.tracestate);
  }
};

struct CancelRow {
  static constexpr MessageInfo info{0x0302, "cancel_row"};
  RequestId request;
  static void fields(auto& self, auto&& visit) { visit("request", self.request); }
};

/// Parked rows keep their KV and are not scheduled: their client reads too slowly.
struct ParkRow {
  static constexpr MessageInfo info{0x0303, "park_row"};
  RequestId request;
  bool parked = false;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("parked", self.parked);
  }
};

struct RowRejected {
  static constexpr MessageInfo info{0x0304, "row_rejected"};
  RequestId request;
  Code code = Code::kUnavailable;
  std::string message;
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("code", self.code);
    visit("message", self.message);
  }
};

enum class Finish : std::uint8_t { kNone = 0, kStop, kLength, kFailed };

/// New tokens of one row.
struct RowTokens {
  RequestId request;
  std::uint32_t first = 0;  ///< index of the first of them in the row's output
  std::vector<TokenId> tokens;
  std::uint32_t unseen = 0;  ///< behind them: of simulated groups, whose tokens have no ids
  std::vector<SampledLogprob> logprobs;  ///< one a token with an id, or empty
  Finish finish = Finish::kNone;
  Code code = Code::kInternal;  ///< if failed
  std::string error;            ///< if failed
  Duration queued;              ///< with the first tokens: how long the row waited to be admitted

  std::size_t count() const { return tokens.size() + unseen; }
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("first", self.first);
    visit("tokens", self.tokens);
    visit("unseen", self.unseen);
    visit("logprobs", self.logprobs);
    visit("finish", self.finish);
    visit("code", self.code);
    visit("error", self.error);
    visit("queued", self.queued);
  }
};

struct TokenBatch {
  static constexpr MessageInfo info{0x0305, "token_batch"};
  ActorRef rank;
  std::uint64_t step = 0;
  bool acknowledge = false;  ///< a BatchTaken is asked for
  std::vector<RowTokens> rows;
  static void fields(auto& self, auto&& visit) {
    visit("rank", self.rank);
    visit("step", self.step);
    visit("acknowledge", self.acknowledge);
    visit("rows", self.rows);
  }
};

/// Credits back: the TokenBatches up to this step were worked off. Cumulative, so that one that
/// gets lost on the way is made up for by the next. Only asked for with some batches: an answer to
/// each would double the messages.
struct BatchTaken {
  static constexpr MessageInfo info{0x0306, "batch_taken"};
  std::uint64_t step = 0;
  static void fields(auto& self, auto&& visit) { visit("step", self.step); }
};

using RankProtocol = Protocol<Started, SubmitRow, CancelRow, ParkRow, BatchTaken, Done<StepResult>,
                              TimerFired, Down, Undeliverable, Drain>;

}  // namespace troupe
