// Answers of Messages (recipe SPEC 5.4, "Messages").
//
// Stream: message_start, then blocks one after the other, each content_block_start, deltas,
// content_block_stop; then message_delta with the stop reason and the usage, and message_stop. A
// `ping` follows the first block's start. A model that begins with reasoning has a thinking block
// from the start on, which ends with its signature.
//
// A failure is an `error` event with {"type":"error","error":{"type","message"}}, the last one.
//
// A body shows the input of a call as JSON. In kDefault a call that is not complete has none and
// is left out (the stop reason is max_tokens); the reference shows `{}`.
//
// Threads: one owner.
#pragma once

#include <string>

#include "runtime/recipe/stream/answer.hpp"

namespace troupe::recipe {

/// What is open.
enum class OpenBlock : unsigned char { kNone, kThinking, kText, kTool };

class MessagesStream final : public Answer {
 public:
  using Answer::Answer;

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  void keep_alive() override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError& error) override;
  std::string body() const override { return {}; }

 private:
  void begin_block(OpenBlock block, const Delta& delta);
  void end_block();
  void open_delta(std::string_view type, std::string_view key);
  void send_delta();

  std::string out_;
  std::string scratch_;
  std::uint64_t index_ = 0;  // of the open block, or of the next one
  OpenBlock block_ = OpenBlock::kNone;
  bool pinged_ = false;
};

class MessagesCompletion final : public Answer {
 public:
  using Answer::Answer;

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError&) override {}
  std::string body() const override;

 private:
  void begin_block(OpenBlock block, const Delta& delta);
  void end_block(bool complete);

  std::string blocks_;  // JSON, with commas
  std::string text_;    // of the open block
  std::string call_;    // of an open tool block: its members up to the input
  std::string scratch_;
  std::string stop_ = "\"stop_reason\":null,\"stop_sequence\":null";
  Usage usage_;
  OpenBlock block_ = OpenBlock::kNone;
};

}  // namespace troupe::recipe
