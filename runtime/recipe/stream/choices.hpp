// Several answers to one request, of Chat (`n`) or Completions (`n`, and several prompts): each
// choice is an answer of its own with its index, and one frame holds them together.
//
// A stream: the choices' events as they come; after the last choice's end one usage event, if asked
// for. A body: one object with all choices in order. Usage counts each prompt once and the tokens
// of all choices.
//
// Threads: one owner. Default mode only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/recipe/stream/stream_processor.hpp"

namespace troupe::recipe {

class Choices {
 public:
  /// Requires: count > 0; the protocol has choices.
  Choices(const ParsingOptions& parsing, const AnswerOptions& answer, const Identity& identity,
          std::shared_ptr<const Tokenizer> tokenizer, Delivery delivery, std::uint32_t count);

  /// Of all prompts together; before the first push.
  void start(const ReadyChunk& ready, EventSink& sink);
  Status push(std::size_t choice, const Chunk& chunk, EventSink& sink);
  bool finished(std::size_t choice) const { return processors_[choice]->finished(); }
  bool finished() const { return left_ == 0; }
  /// The last event, unless all has finished.
  void fail(const ApiError& error, EventSink& sink);
  /// Requires: finished(), Delivery::kBody.
  std::string body() const;
  /// Of all choices, so far.
  Usage usage() const;

 private:
  std::string head(bool event) const;

  AnswerOptions answer_;
  Identity identity_;
  Delivery delivery_;
  ReadyChunk ready_;
  std::vector<std::unique_ptr<StreamProcessor>> processors_;
  std::size_t left_;
};

}  // namespace troupe::recipe
