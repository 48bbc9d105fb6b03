// From the body of POST /v1/chat/completions to what a rank needs.
//
// Parses the body, finds the model, encodes the conversation, checks the context, fills sampling
// defaults. Refusals are OpenAI error objects with the right status. Pure: the same body and id
// give the same Prepared (a request without a seed gets one from its id).
//
// Threads: immutable; runs on the Compute pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/request/request_core.hpp"
#include "runtime/recipe/prompt_encoder.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

/// A model as clients know it.
struct ServedModel {
  std::string name;  ///< "script/*" serves every script of the scripted engine
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const PromptEncoder> encoder;
  std::uint32_t context = 0;  ///< tokens of prompt and answer
};

class ChatPreparer final : public RequestPreparer {
 public:
  /// Requires: at least one model; the first is the default.
  ChatPreparer(std::vector<ServedModel> models, std::string fingerprint);

  Result<Prepared> prepare(const HttpArrived& arrived, RequestId id) const override;
  Duration modelled_time(const HttpArrived& arrived) const override;

 private:
  const ServedModel* find(const std::string& name) const;

  std::vector<ServedModel> models_;
  std::string fingerprint_;
};

}  // namespace troupe
