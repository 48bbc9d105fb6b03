// Where requests come from: the one interface between a load and whatever is loaded.
//
// `troupe traffic` sends what a source yields over HTTP, `troupe simulate` puts it into the virtual
// world; a source knows neither sockets nor actors nor clocks. There are two: synthetic_source.hpp
// (draws) and trace_source.hpp (recorded requests).
//
// How to use one
//   next()         the next request that does not depend on an answer, in order of `at`; nothing:
//                  the load is over. Each call is a step further.
//   after(ended)   the next turn of the session whose turn `ended` has just been answered; its `at`
//                  counts from that end (the think time). Nothing: the session is over. It may be
//                  called at any time, in any order, or never.
//
// Invariants
// 1. The same plan and seed yield the same requests, whatever the server does and in whatever order
//    sessions go on: a later turn depends on its session, never on other sessions.
// 2. `at` of next() never goes back.
// 3. A session costs a source nothing while it thinks: all it needs is in the request before.
//
// Threads: one at a time. Memory: bounded, however long the load is.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/load/prompt.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

struct PlannedRequest {
  Duration at;                ///< since the load began, or since the turn before has ended
  std::uint64_t session = 0;  ///< a number of its own for a request without a session
  bool in_session = false;    ///< others belong to the same session
  std::uint32_t turn = 0;     ///< from 0
  bool last_turn = true;      ///< true: after() will say nothing
  PromptPieces prompt;        ///< the whole of it, earlier turns included
  std::uint32_t output_tokens = 0;
  /// The answer's name, as later prompts have it; that of the prompt's last piece: the answer goes
  /// on with it. 0: no later prompt has it.
  std::uint64_t answer = 0;
  std::vector<PromptImage> images;
  std::uint32_t tools = 0;               ///< tool definitions that go with it
  std::optional<Duration> cancel_after;  ///< the client leaves then
  bool slow_reader = false;

  friend bool operator==(const PlannedRequest&, const PlannedRequest&) = default;
};

/// The prompt and its answer: what a prefix cache may hold once the request is answered.
PromptPieces with_answer(const PlannedRequest& request);

class RequestSource {
 public:
  virtual ~RequestSource() = default;
  /// Errors: a trace that breaks its format, with file and line.
  virtual Result<std::optional<PlannedRequest>> next() = 0;
  virtual std::optional<PlannedRequest> after(const PlannedRequest& ended) = 0;
  /// Whether `at` of next() says when (open loop); else whoever asks decides (closed loop).
  virtual bool timed() const = 0;
  /// What a report must say of it; empty: nothing.
  virtual std::string note() const { return {}; }
};

}  // namespace troupe
