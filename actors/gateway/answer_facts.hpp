// What an answer was made of, as its terminal message tells it: for the access log.
//
// Why within that message: who ends an answer knows these things, and a message of its own would
// cost each request one more hop. No text of prompts or answers is in it.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// kNone: nothing was generated, and nothing failed (a list of models, a count of tokens).
enum class AnswerEnding : std::uint8_t {
  kNone = 0,
  kStop,
  kLength,
  kToolCalls,
  kError,
  kCancelled
};

struct AnswerFacts {
  RequestId request;  ///< 0: it was refused before it got one
  std::string model;  ///< as the client named it; empty: it was not understood so far
  bool streamed = false;
  AnswerEnding ending = AnswerEnding::kNone;
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;  ///< of the prompt, found in a prefix cache
  std::uint32_t output_tokens = 0;  ///< of all choices
  std::uint32_t reasoning_tokens = 0;
  Duration queued;       ///< in the rank's queue
  Duration first_token;  ///< from arrival; 0: none came
  Duration decoded;      ///< from the first token to the last
  std::string code;      ///< of the error, as in the answer's body
  static void fields(auto& self, auto&& visit) {
    visit("request", self.request);
    visit("model", self.model);
    visit("streamed", self.streamed);
    visit("ending", self.ending);
    visit("prompt_tokens", self.prompt_tokens);
    visit("cached_tokens", self.cached_tokens);
    visit("output_tokens", self.output_tokens);
    visit("reasoning_tokens", self.reasoning_tokens);
    visit("queued", self.queued);
    visit("first_token", self.first_token);
    visit("decoded", self.decoded);
    visit("code", self.code);
  }
};

}  // namespace troupe
