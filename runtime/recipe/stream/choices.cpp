#include "runtime/recipe/stream/choices.hpp"

#include "runtime/base/assert.hpp"
#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/chat_answer.hpp"
#include "runtime/recipe/stream/completion_answer.hpp"

namespace troupe::recipe {

Choices::Choices(const ParsingOptions& parsing, const AnswerOptions& answer,
                 const Identity& identity, std::shared_ptr<const Tokenizer> tokenizer,
                 Delivery delivery, std::uint32_t count)
    : answer_(answer), identity_(identity), delivery_(delivery), left_(count) {
  TROUPE_ASSERT(count > 0, "an answer has a choice");
  for (std::uint32_t i = 0; i < count; ++i) {
    AnswerOptions one = answer;
    one.choice = i;
    Identity name = identity;
    name.seed += i;  // the ids of calls of two choices differ
    processors_.push_back(
        std::make_unique<StreamProcessor>(parsing, one, std::move(name), tokenizer, delivery));
  }
}

void Choices::start(const ReadyChunk& ready, EventSink& sink) {
  ready_ = ready;
  for (const auto& processor : processors_) {
    const Status pushed = processor->push(ready, sink);
    TROUPE_ASSERT(pushed.ok(), "a new answer takes its beginning");
  }
}

Status Choices::push(std::size_t choice, const Chunk& chunk, EventSink& sink) {
  StreamProcessor& processor = *processors_[choice];
  TROUPE_TRY(processor.push(chunk, sink));
  if (!processor.finished()) return ok_status();
  --left_;
  if (left_ > 0 || delivery_ == Delivery::kBody || !answer_.include_usage) return ok_status();
  std::string event = head(true) + "],\"usage\":";
  append_chat_usage(event, usage(), true);
  event += '}';
  sink.event({}, event);
  return ok_status();
}

void Choices::fail(const ApiError& error, EventSink& sink) {
  if (delivery_ == Delivery::kEvents && !finished()) sink.event({}, error_body(error));
}

std::string Choices::head(bool event) const {
  if (answer_.protocol == Protocol::kCompletions) {
    return completion_head(identity_, ready_.fingerprint);
  }
  return event ? chat_chunk_head(identity_, ready_.fingerprint, true)
               : chat_body_head(identity_, ready_.fingerprint);
}

Usage Choices::usage() const {
  Usage sum;
  sum.prompt_tokens = ready_.prompt_tokens;
  sum.cached_tokens = ready_.cached_tokens;
  for (const auto& processor : processors_) {
    const Usage& one = processor->usage();
    sum.completion_tokens += one.completion_tokens;
    if (one.reasoning_tokens) {
      sum.reasoning_tokens = sum.reasoning_tokens.value_or(0) + *one.reasoning_tokens;
    }
  }
  return sum;
}

std::string Choices::body() const {
  std::string out = head(false);
  for (std::size_t i = 0; i < processors_.size(); ++i) {
    if (i > 0) out += ',';
    out += processors_[i]->body();
  }
  out += "],\"usage\":";
  append_chat_usage(out, usage(), true);
  return out + '}';
}

}  // namespace troupe::recipe
