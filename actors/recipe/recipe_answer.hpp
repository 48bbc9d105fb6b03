// Answers of the recipe behind the stream table's seam: tokens in, bytes of a protocol out.
//
// One recipe::StreamProcessor a row parses the tokens and writes events or the whole body,
// whichever protocol and delivery the request asked for. An event becomes one server-sent event
// here: `event: NAME` if it has a name, `data: JSON`, an empty line.
#pragma once

#include <memory>
#include <optional>

#include "actors/stream_table/answer.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/stream/answer.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

struct RecipeAnswerOptions {
  recipe::ParsingOptions parsing;
  recipe::AnswerOptions answer;
  recipe::Identity identity;
  std::string fingerprint;
  std::shared_ptr<const Tokenizer> tokenizer;
  bool stream = false;
  bool logprobs = false;               ///< asked for: those that the rank sends are written
  std::uint32_t prompt_tokens = 0;     ///< of all prompts
  std::uint32_t choices = 1;           ///< to all prompts
  std::optional<StoredResponse> keep;  ///< Responses: what is kept with the body
};

class RecipeAnswer final : public AnswerFormat {
 public:
  explicit RecipeAnswer(RecipeAnswerOptions options)
      : options_(std::make_shared<const RecipeAnswerOptions>(std::move(options))) {}
  recipe::Protocol protocol() const override { return options_->answer.protocol; }
  bool streamed() const override { return options_->stream; }
  const char* content_type() const override {
    return options_->stream ? "text/event-stream; charset=utf-8" : "application/json";
  }
  WriterOfRow open() const override;

 private:
  std::shared_ptr<const RecipeAnswerOptions> options_;  ///< its writers share them
};

}  // namespace troupe
