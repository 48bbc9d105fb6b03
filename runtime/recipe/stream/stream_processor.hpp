// The whole way of one answer: an engine's chunks in, a client's events or body out.
//
//   Chunk ─▶ TokenText ─ pieces ─▶ AnswerParser ─ deltas ─▶ Answer ─▶ events of a protocol, or body
//
// One state machine serves both deliveries. The same chunks, options, identity and seed give the
// same bytes.
//
// Invariants:
//   1. Events begin with the ready chunk or, without one, with the first text or token that ends
//      where a character ends; what a ready chunk says after that is not used.
//   2. After the finish chunk, or in the push in which a stop string ends, the final events come
//      and finished() is true. Later pushes are errors. finish() adds the final events if no chunk
//      did, as if the model had stopped.
//   3. After an error of push() the processor is closed: nothing but fail() may follow.
//   4. Usage counts every generated token (kDeepseek: not those of a character cut by the end, nor
//      those behind a stop string). Reasoning tokens: kDefault counts those that came before the
//      end of the reasoning; kDeepseek encodes the reasoning text anew.
//   5. kDefault: what one push adds to a text is one delta, however many tokens brought it (with
//      log-probabilities: one a token).
//   6. kDefault, ParsingOptions::one_call: nothing follows the first complete call, and its push
//      ends the answer.
//   7. kDefault: a call that its end cut is never reported as finished: the answer ends with
//      `length`, also if the model itself stopped in the middle of it.
//
// Memory: under 2 KB for an idle Chat or Messages answer without stop strings. Steady state: no
// allocation a token for streams of Chat and Messages; Responses must keep the text.
//
// Threads: one owner. Ownership: keeps the tokenizer alive.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/recipe/stream/answer.hpp"
#include "runtime/recipe/stream/answer_parser.hpp"
#include "runtime/recipe/stream/chunk.hpp"
#include "runtime/recipe/stream/token_text.hpp"

namespace troupe::recipe {

class StreamProcessor final : private PieceSink, private DeltaSink {
 public:
  /// `tokenizer` may be null: then only texts can be pushed.
  StreamProcessor(const ParsingOptions& parsing, const AnswerOptions& answer, Identity identity,
                  std::shared_ptr<const Tokenizer> tokenizer,
                  Delivery delivery = Delivery::kEvents);

  StreamProcessor(const StreamProcessor&) = delete;
  StreamProcessor& operator=(const StreamProcessor&) = delete;

  /// Events are sent while this runs; none with Delivery::kBody.
  Status push(const Chunk& chunk, EventSink& sink);
  Status finish(EventSink& sink);
  /// An event that says nothing new, where the protocol needs one. Nothing before the first event.
  void keep_alive(EventSink& sink);
  /// Ends the answer with an error event, unless it is finished.
  void fail(const ApiError& error, EventSink& sink);

  /// Seconds since the answer's creation: when it ended is part of some answers, if told.
  void passed(std::int64_t seconds) { answer_->passed(seconds); }

  bool finished() const { return state_ == State::kFinished; }
  /// So far.
  const Usage& usage() const { return usage_; }
  /// Requires: finished() without fail().
  AnswerEnd how_ended() const { return how_ended_; }
  /// Requires: made for Delivery::kBody, or of Responses.
  std::string body() const;

 private:
  enum class State : unsigned char { kIdle, kStarted, kFinished, kClosed };

  void piece(const Piece& piece) override;
  void delta(const Delta& delta) override;
  Status check_open() const;
  void start(const ReadyChunk& ready);
  Status push_tokens(const TokensChunk& chunk);
  void end(std::optional<EngineFinish> reason);
  AnswerEnd answer_end(std::optional<EngineFinish> reason) const;
  void count_reasoning();
  void send_merged();
  std::string_view next_call_id();

  bool strict() const { return compat_ == Compat::kDefault; }

  Compat compat_;
  bool thinking_;
  bool one_call_;
  bool had_call_ = false;  // one_call: it is complete, all else is dropped
  Delivery delivery_;
  bool has_body_;
  State state_ = State::kIdle;
  AnswerEnd how_ended_ = AnswerEnd::kStop;
  bool has_reasoning_ = false;
  Rng random_;  // of the tails of call ids
  std::uint64_t calls_ = 0;
  std::uint64_t reasoning_tokens_ = 0;
  std::string reasoning_;  // kDeepseek
  std::string call_id_;
  DeltaKind merged_kind_ = DeltaKind::kContent;
  std::string merged_;  // kDefault: text of this push that is not sent yet
  Usage usage_;
  TokenText text_;
  AnswerParser parser_;
  std::unique_ptr<Answer> answer_;
};

}  // namespace troupe::recipe
