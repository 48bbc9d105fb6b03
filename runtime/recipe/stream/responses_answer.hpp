// Answers of Responses (recipe SPEC 5.4, "Responses"), as events and as one body: the last event
// shows the whole response, so that both need the same.
//
// Stream: response.created, response.in_progress, then items one after the other, each
// output_item.added, [content_part.added,] deltas, done events, output_item.done; finally
// response.completed or response.incomplete. Every event has a sequence_number. A failure is
// response.failed with the response so far and its error.
//
// A message is the final answer unless a call follows: then its `done` says commentary. An item
// that the end cut is incomplete; in kDefault a call that was cut has no arguments.done.
//
// What a response repeats of its request comes as `AnswerOptions::echo`.
//
// Threads: one owner.
#pragma once

#include <string>

#include "runtime/recipe/stream/answer.hpp"
#include "runtime/recipe/stream/custom_input.hpp"

namespace troupe::recipe {

class ResponsesAnswer final : public Answer {
 public:
  explicit ResponsesAnswer(AnswerContext context);

  void start(const Start& start) override;
  void delta(const Delta& delta) override;
  /// `response.in_progress` again: Codex's idle timer does not see comments.
  void keep_alive() override;
  void finish(const Outcome& outcome) override;
  void fail(const ApiError& error) override;
  std::string body() const override;

 private:
  enum class Item : unsigned char { kNone, kReasoning, kMessage, kCall, kCustom };
  enum class State : unsigned char { kInProgress, kCompleted, kIncomplete, kFailed };

  void begin_text(Item item);
  void begin_call(const Delta& delta);
  void text_delta(const Delta& delta);
  void arguments_delta(const Delta& delta);
  void arguments_piece(std::string_view piece);
  void end_item(bool complete, bool call_follows);
  void end_text();
  void end_call();

  // Events: open, members with commas, close.
  void open(std::string_view type);
  void close(std::string_view type);
  void item_id();
  void item_index();
  void close(std::string_view type, std::string_view text);
  void append_item(std::string& out, std::string_view status, bool whole,
                   std::string_view phase) const;
  void append_item_id(std::string& out) const;
  void append_part(std::string& out, bool whole) const;
  void append_response(std::string& out, State state) const;
  void append_usage(std::string& out) const;
  void prepare_members();
  void send_response(std::string_view type, State state);

  std::string id_;  // of the response, escaped
  std::string out_;
  std::string scratch_;
  std::string items_;  // done items as JSON, with commas
  std::string text_;   // of the open item: text, arguments or input
  std::string logs_;   // of the open message, as JSON with commas
  std::string call_;   // of an open call: "call_id", "name" and "namespace"
  CustomInput input_;
  Item item_ = Item::kNone;
  std::uint64_t index_ = 0;  // of the open item, or of the next one
  std::uint64_t sequence_ = 0;
  State state_ = State::kInProgress;
  Outcome outcome_;
  std::string failure_ = "null";
  // Members of the response that do not change.
  std::string before_model_;
  std::string after_output_;
  std::string after_usage_;
};

}  // namespace troupe::recipe
