// What a client gets: deltas in the shape of one protocol, as events of a stream or as one body.
//
// One class a protocol and delivery; which, decides make_answer(). An event is the JSON text of
// its data and, if the protocol names events, its name: `event: NAME` / `data: JSON` on the wire.
//
// Order of calls: start once, delta and keep_alive any number of times, then finish or fail. A body
// is there after any of them: without finish it has no finish reason.
//
// Threads: one owner. Ownership: events are views, valid while the sink handles them. Nothing here
// is random and nothing reads a clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/stream/delta.hpp"
#include "runtime/recipe/text/api_error.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe::recipe {

class EventSink {
 public:
  /// `name` is empty for Chat, whose events have none.
  virtual void event(std::string_view name, std::string_view json) = 0;

 protected:
  ~EventSink() = default;
};

enum class Delivery : unsigned char { kEvents, kBody };

/// What is the same in all events of an answer.
struct Identity {
  std::string id;            ///< "chatcmpl-...", "resp_...", "msg_..."
  std::string model;         ///< as answers name it
  std::int64_t created = 0;  ///< seconds since 1970
  std::uint64_t seed = 0;    ///< of the random tails of call ids; another for each answer
  std::string signature;     ///< Messages: of thinking blocks; empty: the id
};

/// Options and identity as an answer keeps them.
struct AnswerContext {
  Compat compat = Compat::kDefault;
  bool starts_reasoning = false;  ///< the first text is reasoning
  AnswerOptions options;
  Identity identity;
  const Tokenizer* tokenizer = nullptr;  ///< spells the tokens of log-probabilities

  bool strict() const { return compat == Compat::kDefault; }
};

struct Start {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::string_view fingerprint;
};

class Answer {
 public:
  explicit Answer(AnswerContext context) : context_(std::move(context)) {}
  virtual ~Answer() = default;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  virtual void start(const Start& start) = 0;
  virtual void delta(const Delta& delta) = 0;
  virtual void finish(const Outcome& outcome) = 0;
  /// An event that says nothing, for clients whose patience wants one. None of Chat and
  /// Completions: there a comment is enough (shared serving/CLIENTS.md).
  virtual void keep_alive() {}
  /// A failure in mid-stream: the last event.
  virtual void fail(const ApiError& error) = 0;
  /// The answer so far as one body. Requires: made for kBody, or for Responses.
  virtual std::string body() const = 0;

  /// Seconds since Identity::created, at the calls that follow.
  void passed(std::int64_t seconds) { passed_ = seconds; }

  /// Where events go from now on; none if null.
  void send_to(EventSink* sink) { sink_ = sink; }

 protected:
  /// Negative: nobody told.
  std::int64_t passed() const { return passed_; }
  const AnswerContext& context() const { return context_; }
  bool strict() const { return context_.strict(); }
  bool is_sending() const { return sink_ != nullptr; }
  void send(std::string_view name, std::string_view json) {
    if (sink_) sink_->event(name, json);
  }

 private:
  AnswerContext context_;
  EventSink* sink_ = nullptr;
  std::int64_t passed_ = -1;
};

std::unique_ptr<Answer> make_answer(AnswerContext context, Delivery delivery);

/// Data that ends a stream after its last event: "[DONE]" for Chat, empty for the others.
std::string_view done_data(Protocol protocol);

}  // namespace troupe::recipe
