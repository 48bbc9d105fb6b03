// From the body of an inference request, of any protocol, to what a rank needs.
//
//   POST /v1/chat/completions, /v1/responses, /v1/messages
//     ─ recipe::convert_request ─▶ conversation ─ encoding ─▶ prompt ─ tokenizer ─▶ ids
//
// Refusals have the protocol's own form and status. Pure: the same body and id give the same
// Prepared (a request without a seed gets one from its id).
//
// Threads: immutable; runs on the Compute pool.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/request/request_core.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/encoding/encoding.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

/// A model as clients know it.
struct ServedModel {
  std::string name;  ///< "script/*" serves every script of the scripted engine
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const recipe::Encoding> encoding;
  recipe::ModelVersion version = recipe::ModelVersion::kChatml;
  std::uint32_t context = 0;                                 ///< tokens of prompt and answer
  std::shared_ptr<const recipe::PromptPack> pack = nullptr;  ///< DeepSeek's formats have one
  bool takes_images = false;  ///< else a request with an image is refused
};

class RecipePreparer final : public RequestPreparer {
 public:
  /// Requires: at least one model; the first is the default. `threads`: on how many a long prompt
  /// is encoded. Of `conversion`, names of models and packs come from `models`.
  RecipePreparer(std::vector<ServedModel> models, std::string fingerprint, unsigned threads = 1,
                 recipe::ConversionOptions conversion = {});

  Result<Prepared> prepare(const HttpArrived& arrived, RequestId id) const override;
  Duration modelled_time(const HttpArrived& arrived) const override;

 private:
  const ServedModel* find(const std::string& name) const;

  std::vector<ServedModel> models_;
  std::string fingerprint_;
  unsigned threads_;
  recipe::ConversionOptions conversion_;
};

}  // namespace troupe
