// Chat answers: the recipe's detokenizer and event writer behind the stream table's seam.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/stream_table/answer.hpp"
#include "runtime/recipe/chat_events.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

struct ChatAnswerOptions {
  ChatEvents::Identity identity;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::vector<std::string> stops;
  bool stream = false;
  bool include_usage = false;
  bool logprobs = false;
  std::uint32_t prompt_tokens = 0;
};

class ChatAnswer final : public AnswerFormat {
 public:
  explicit ChatAnswer(ChatAnswerOptions options) : options_(std::move(options)) {}
  bool streamed() const override { return options_.stream; }
  const char* content_type() const override {
    return options_.stream ? "text/event-stream; charset=utf-8" : "application/json";
  }
  std::unique_ptr<AnswerWriter> open() const override;

 private:
  ChatAnswerOptions options_;
};

}  // namespace troupe
