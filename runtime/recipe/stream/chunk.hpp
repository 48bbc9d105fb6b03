// What an engine reports about one generation, in order: ready, any number of tokens or texts, one
// finish. Units: `prompt_tokens` and counts are tokens. Threads: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe::recipe {

enum class EngineFinish : unsigned char { kStop, kLength, kContentFilter };

struct ReadyChunk {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;  ///< of the prompt, found in a prefix cache
  std::string fingerprint;          ///< empty: null in answers
};

struct CandidateLogprob {
  TokenId id{0};
  double logprob = 0;
};

struct TokensChunk {
  struct Logprob {
    double logprob = 0;
    std::vector<CandidateLogprob> top;
  };
  std::vector<TokenId> ids;
  std::vector<Logprob> logprobs;  ///< empty, or one an id
};

struct TextChunk {
  std::string text;
  std::uint64_t tokens = 0;
};

struct FinishChunk {
  EngineFinish reason = EngineFinish::kStop;
};

using Chunk = std::variant<ReadyChunk, TokensChunk, TextChunk, FinishChunk>;

}  // namespace troupe::recipe
