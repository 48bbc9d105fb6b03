// Answers of Completions, the protocol before conversations: the text alone, as a stream of
// "text_completion" objects or as one.
//
// A stream has no opening chunk; its last one of a choice has an empty text and the finish reason.
// `logprobs` has the old shape: four lists, one entry a token; `text_offset` counts characters from
// the beginning of the text, `top_logprobs` shows the chosen token too.
//
// Threads: one owner.
#pragma once

#include <optional>
#include <string>

#include "runtime/recipe/stream/answer.hpp"

namespace troupe::recipe {

/// All that stands before the choices, of an event or of a body.
std::string completion_head(const Identity& identity, std::string_view fingerprint);

/// The four lists while they grow.
class OldLogprobs {
 public:
  void add(const Delta& delta, const AnswerContext& context);
  /// The lists so far as JSON; null if there are none. They begin anew, the offset goes on.
  void take(std::string& out);

 private:
  std::string offsets_;
  std::string logprobs_;
  std::string tokens_;
  std::string tops_;
  std::uint64_t characters_ = 0;
};

class CompletionStream final : public Answer {
 public:
  using Answer::Answer;

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError& error) override;
  std::string body() const override { return {}; }

 private:
  void send_choice(std::string_view text, std::string_view finish_reason);

  std::string head_;
  std::string out_;
  OldLogprobs logprobs_;
};

class CompletionBody final : public Answer {
 public:
  using Answer::Answer;

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError&) override {}
  std::string body() const override;

 private:
  std::string fingerprint_;
  std::string text_;
  OldLogprobs logprobs_;
  std::string old_logprobs_ = "null";
  std::string finish_reason_;
  Usage usage_;
};

}  // namespace troupe::recipe
