// Answers of Chat Completions (recipe SPEC 5.4, "Chat").
//
// Invariants of the stream, each from a client that broke without it (shared serving/CLIENTS.md):
//   1. `choices` is always an array, empty in the usage chunk of include_usage only.
//   2. `role` is "assistant" in the first chunk and absent after it. A call has its id, type and
//      name in its first chunk; later ones have index and function.arguments only.
//   3. There is no tool_calls key without calls, not even an empty one.
//   4. kDefault: a delta has only what it adds, `usage` is in the usage chunk only, and keys whose
//      value would be null are left out, finish_reason apart.
//   5. A failure is {"error":{...}} in place of a chunk; no finish chunk and no [DONE] follow it.
//
// Threads: one owner.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/recipe/stream/answer.hpp"

namespace troupe::recipe {

/// All that stands before a chunk's choices, and before those of a body.
std::string chat_chunk_head(const Identity& identity, std::string_view fingerprint, bool strict);
std::string chat_body_head(const Identity& identity, std::string_view fingerprint);

class ChatStream final : public Answer {
 public:
  using Answer::Answer;

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError& error) override;
  std::string body() const override { return {}; }

 private:
  void open();
  void close();
  void send_chunk();
  void text_chunk(const Delta& delta);
  void call_chunk(const Delta& delta);
  void arguments_chunk(const Delta& delta);

  std::string head_;  // of every chunk, up to the content of `choices`
  std::string out_;
  std::string scratch_;
  std::uint64_t calls_ = 0;
};

class ChatCompletion final : public Answer {
 public:
  using Answer::Answer;

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError&) override {}
  std::string body() const override;

 private:
  struct Call {
    std::string id;
    std::string name;
    std::string arguments;
  };
  void append_choice(std::string& out) const;
  void append_message(std::string& out) const;
  void append_choice_logprobs(std::string& out) const;

  std::string fingerprint_;
  std::optional<std::string> content_;
  std::optional<std::string> reasoning_;
  std::vector<Call> calls_;
  std::string content_logs_;
  std::string reasoning_logs_;
  std::string scratch_;
  std::optional<AnswerEnd> end_;
  Usage usage_;
};

}  // namespace troupe::recipe
