// The models that a gateway knows, and what a body of a chat protocol says to one of them.
//
//   body ─ recipe::convert_request ─▶ conversation ─ encoding ─▶ prompt ─ tokenizer ─▶ ids
//
// Threads: immutable; read by all jobs of the Compute pool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/base/result.hpp"
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

/// A body that was understood.
struct Understood {
  recipe::ConversationRequest request;
  const ServedModel* model = nullptr;
  std::string prompt;  ///< with the spellings of its control tokens
  std::vector<TokenId> ids;
};

class ServedModels {
 public:
  /// Requires: at least one model; the first is the default. `threads`: on how many a long prompt
  /// is encoded. Of `conversion`, names of models and packs come from `models`.
  ServedModels(std::vector<ServedModel> models, unsigned threads,
               recipe::ConversionOptions conversion);

  const recipe::ConversionOptions& conversion() const { return conversion_; }

  /// An empty name is the default's. The error is the protocols' "no such model".
  std::variant<const ServedModel*, recipe::RequestError> find(const std::string& name) const;

  /// Error in the Result: our own fault (a vocabulary that does not fit its encoding).
  Result<std::variant<Understood, recipe::RequestError>> understand(recipe::Protocol protocol,
                                                                    const std::string& body) const;

 private:
  std::vector<ServedModel> models_;
  unsigned threads_;
  recipe::ConversionOptions conversion_;
};

/// The ids of a prompt that is no conversation: its writer also wrote the control tokens, so that
/// their spellings are looked for. `first`: with the token that the model's prompts begin with, if
/// it has one.
std::vector<TokenId> raw_prompt(const ServedModel& model, std::string_view text, bool first);

/// What to say about the first of `ids` that the model's vocabulary does not have; nothing if it
/// has them all. `param`: the list's name.
std::optional<recipe::RequestError> unknown_token(const ServedModel& model,
                                                  const std::vector<TokenId>& ids,
                                                  const std::string& param);

/// An error about one parameter, with status 400.
recipe::RequestError error_about(std::string param, std::string message);

}  // namespace troupe
