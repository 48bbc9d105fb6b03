// What running vectors needs beside them: encodings, prompt packs and tokenizers, each loaded when
// it is first asked for and kept.
//
// Which files: those of the options, else those that `troupe model pull` put into the cache.
//
// Errors say which file is missing and which command fetches it. Threads: one owner.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/encoding/encoding.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

/// What `troupe model pull` puts into the cache for a model.
enum class PulledFile : unsigned char { kTokenizer, kPromptPack };

struct LabOptions {
  recipe::Compat compat = recipe::Compat::kDefault;
  std::string model;      ///< an encoding's name, for every request; empty: by the request's model
  std::string tokenizer;  ///< tokenizer.json or GGUF, for every vector; empty: the pulled one
  std::string prompt_pack;  ///< for every vector; empty: the pulled one
  unsigned threads = 1;     ///< that encode one prompt
  /// Where a pulled file lies, whether it is there or not. Requires: set unless both files are.
  std::function<std::string(std::string_view model, PulledFile file)> pulled;
};

class RecipeLab {
 public:
  using EncodingPtr = std::shared_ptr<const recipe::Encoding>;
  using TokenizerPtr = std::shared_ptr<const Tokenizer>;
  using PackPtr = std::shared_ptr<const recipe::PromptPack>;

  /// kInvalid, and which models are known, if options.model is none of them.
  static Result<RecipeLab> open(LabOptions options);

  Result<EncodingPtr> encoding(recipe::ModelVersion version);
  Result<TokenizerPtr> tokenizer(recipe::ModelVersion version);
  /// Null for a version that has none.
  Result<PackPtr> pack(recipe::ModelVersion version);

  /// How to convert a request of this model name: besides the library's names, those of --model are
  /// known, but to Compat::kDeepseek. Packs that are not there are left out: most requests convert
  /// without.
  Result<recipe::ConversionOptions> conversion_options(std::string_view request_model);
  /// An unknown model's refusal: here there is no server to ask for its models.
  void explain(recipe::RequestError& refused) const;
  const LabOptions& options() const { return options_; }

 private:
  explicit RecipeLab(LabOptions options) : options_(std::move(options)) {}

  /// The model whose pulled files serve `version`.
  std::string_view model_of(recipe::ModelVersion version) const;

  LabOptions options_;
  recipe::ModelVersion version_ = recipe::ModelVersion::kDeepseekV4;  // of options_.model
  std::map<recipe::ModelVersion, PackPtr> packs_;
  std::map<recipe::ModelVersion, EncodingPtr> encodings_;
  std::map<std::string, TokenizerPtr, std::less<>> tokenizers_;  // by path
};

}  // namespace troupe
