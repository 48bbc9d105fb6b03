// The protocol between an HTTP session and the actors behind it.
//
// A session is a foreign actor: the HTTP server's endpoint live, the traffic core in simulation.
// One endpoint serves many exchanges (a request and its answer), told apart by a number.
//
//   session → gateway   HttpArrived
//   request → session   SessionAdopted, before anything else: Gone goes to the request from now on,
//                       Drained to the stream table
//   streams actors  → session   SessionRespond: a whole answer
//                       SessionBegin, SessionWrite*, then SessionEnd, or
//                       SessionCut: the client must see that the answer is not complete
//   session → request   SessionGone: the client left; nothing more is written. SessionCut comes
//                       back, for what it says of the answer
//   session → streams   SessionDrained: what the client has taken so far
//
// Invariants: (1) an exchange gets one terminal message: SessionRespond, SessionEnd or SessionCut;
// a second is ignored; (2) the session answers by itself if the request, or before adoption the
// gateway, ends without a terminal message: a client always gets an answer or an error. It learns
// of that by watching, or from the gateway (ExchangeLost).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/gateway/answer_facts.hpp"
#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/actor/system_messages.hpp"
#include "runtime/base/time.hpp"
#include "runtime/base/trace_context.hpp"
#include "runtime/device/group_step.hpp"

namespace troupe {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

/// A simulated request has no text: its prompt is a length.
struct SimulatedPrompt {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t max_tokens = 0;
  SealedWork sealed;  ///< may be empty
  static void fields(auto& self, auto&& visit) {
    visit("prompt_tokens", self.prompt_tokens);
    visit("max_tokens", self.max_tokens);
  }
};

struct HttpArrived {
  static constexpr MessageInfo info{0x0101, "http_arrived"};
  std::uint64_t exchange = 0;
  ActorRef session;
  std::string method;
  std::string path;
  std::string query;   ///< behind the question mark, not decoded
  HeaderList headers;  ///< names in lower case
  std::string body;
  /// What the body costs the server: both go together. Never leaves the node.
  std::shared_ptr<const void> body_hold;
  Time arrived;  ///< of this node's clock
  std::optional<SimulatedPrompt> simulated;
  std::int64_t unix_seconds = 0;  ///< wall clock of the arrival, for `created`; 0 in simulation
  std::string tenant;             ///< whose key it carries; empty: no keys are asked for
  TraceContext trace;             ///< with the request's own span; none in simulation
  std::string tracestate;         ///< of the caller, as it came; may be empty
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("session", self.session);
    visit("method", self.method);
    visit("path", self.path);
    visit("query", self.query);
    visit("headers", self.headers);
    visit("body", self.body);
    visit("arrived", self.arrived);
    visit("simulated", self.simulated);
    visit("unix_seconds", self.unix_seconds);
    visit("tenant", self.tenant);
    visit("trace", self.trace);
    visit("tracestate", self.tracestate);
  }
};

struct SessionAdopted {
  static constexpr MessageInfo info{0x0102, "session_adopted"};
  std::uint64_t exchange = 0;
  ActorRef request;
  ActorRef streams;
  RequestId row;       ///< its number there
  HeaderList headers;  ///< that the answer carries beside its own
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("request", self.request);
    visit("streams", self.streams);
    visit("row", self.row);
    visit("headers", self.headers);
  }
};

struct SessionRespond {
  static constexpr MessageInfo info{0x0103, "session_respond"};
  std::uint64_t exchange = 0;
  std::uint16_t status = 200;
  HeaderList headers;
  std::string body;
  std::uint32_t tokens = 0;  ///< output tokens that the body carries
  AnswerFacts facts = {};
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("status", self.status);
    visit("headers", self.headers);
    visit("body", self.body);
    visit("tokens", self.tokens);
    visit("facts", self.facts);
  }
};

struct SessionBegin {
  static constexpr MessageInfo info{0x0104, "session_begin"};
  std::uint64_t exchange = 0;
  std::uint16_t status = 200;
  HeaderList headers;
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("status", self.status);
    visit("headers", self.headers);
  }
};

struct SessionWrite {
  static constexpr MessageInfo info{0x0105, "session_write"};
  std::uint64_t exchange = 0;
  std::string bytes;
  std::uint32_t tokens = 0;  ///< output tokens that these bytes carry
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("bytes", self.bytes);
    visit("tokens", self.tokens);
  }
};

struct SessionEnd {
  static constexpr MessageInfo info{0x0106, "session_end"};
  std::uint64_t exchange = 0;
  AnswerFacts facts = {};
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("facts", self.facts);
  }
};

struct SessionCut {
  static constexpr MessageInfo info{0x0107, "session_cut"};
  std::uint64_t exchange = 0;
  AnswerFacts facts = {};
  static void fields(auto& self, auto&& visit) {
    visit("exchange", self.exchange);
    visit("facts", self.facts);
  }
};

struct SessionGone {
  static constexpr MessageInfo info{0x0108, "session_gone"};
  std::uint64_t exchange = 0;
  static void fields(auto& self, auto&& visit) { visit("exchange", self.exchange); }
};

struct SessionDrained {
  static constexpr MessageInfo info{0x0109, "session_drained"};
  RequestId row;  ///< as it was adopted
  std::uint64_t exchange = 0;
  std::uint64_t bytes = 0;  ///< of SessionWrite, since the exchange began
  static void fields(auto& self, auto&& visit) {
    visit("row", self.row);
    visit("exchange", self.exchange);
    visit("bytes", self.bytes);
  }
};

/// What a session accepts.
using SessionProtocol = Protocol<SessionAdopted, SessionRespond, SessionBegin, SessionWrite,
                                 SessionEnd, SessionCut, Undeliverable, Down>;

}  // namespace troupe
