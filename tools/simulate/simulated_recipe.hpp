// The recipe of simulated requests: prompts that are lengths, answers whose bytes say nothing.
//
// It stands where the real recipe stands, so that the whole path from HTTP to SSE runs: preparing
// takes modelled time, every token becomes `bytes_per_token` bytes of an answer's stream.
#pragma once

#include "actors/request/request_core.hpp"

namespace troupe {

class SimulatedRecipe final : public RequestPreparer {
 public:
  /// The model's name that the simulated ranks serve.
  static constexpr const char* kModel = "simulated";

  explicit SimulatedRecipe(std::uint32_t bytes_per_token);

  Result<Prepared> prepare(const HttpArrived& arrived, RequestId id,
                           const ResponseChain* earlier) const override;
  /// 20 µs, and 0.4 µs a token: a tokenizer of 10 MB/s and 4 bytes a token. A placeholder that the
  /// recipe's own benchmark replaces.
  Duration modelled_time(const HttpArrived& arrived) const override;

 private:
  std::shared_ptr<const AnswerFormat> format_;
};

}  // namespace troupe
