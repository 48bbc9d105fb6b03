#include "tools/recipe/recipe_lab.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/model/gguf_vocabulary.hpp"
#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"

namespace troupe {
namespace {

using recipe::ModelVersion;

struct Row {
  std::string_view model;  // of --model, of the encodings and of `troupe model pull`
  ModelVersion version;
  bool is_pulled;  // `troupe model pull` knows it
};

constexpr std::array kRows = std::to_array<Row>({
    {"deepseek-v4", ModelVersion::kDeepseekV4, true},
    {"deepseek-v4.1", ModelVersion::kDeepseekV41, true},
    {"smollm2", ModelVersion::kChatml, true},
    {"chatml", ModelVersion::kChatml, false},
});

const Row* find_row(std::string_view model) {
  for (const Row& row : kRows) {
    if (row.model == model) return &row;
  }
  return nullptr;
}

std::string known_names() {
  std::string names;
  for (const Row& row : kRows) names.append(names.empty() ? "" : ", ").append(row.model);
  return names;
}

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& path) {
  if (!path.ends_with(".gguf")) return load_tokenizer_file(path);
  TROUPE_TRY_ASSIGN(const auto file, GgufFile::open(path));
  TROUPE_TRY_ASSIGN(const auto vocabulary, vocabulary_of(*file));
  return BpeTokenizer::build(vocabulary);
}

}  // namespace

Result<RecipeLab> RecipeLab::open(LabOptions options) {
  RecipeLab lab(std::move(options));
  const std::string& model = lab.options_.model;
  if (model.empty()) return lab;
  const Row* row = find_row(model);
  if (row == nullptr) {
    return Error{Code::kInvalid,
                 "--model '" + excerpt(model, 40) + "' is not known; known are " + known_names()};
  }
  lab.version_ = row->version;
  return lab;
}

std::string_view RecipeLab::model_of(ModelVersion version) const {
  if (!options_.model.empty() && version == version_) return options_.model;
  for (const Row& row : kRows) {
    if (row.version == version) return row.model;
  }
  return "";
}

Result<RecipeLab::PackPtr> RecipeLab::pack(ModelVersion version) {
  if (version == ModelVersion::kChatml) return PackPtr();
  PackPtr& pack = packs_[version];
  if (pack != nullptr) return pack;
  TROUPE_ASSERT(!options_.prompt_pack.empty() || options_.pulled, "there is a way to find files");
  const std::string path = options_.prompt_pack.empty()
                               ? options_.pulled(model_of(version), PulledFile::kPromptPack)
                               : options_.prompt_pack;
  TROUPE_TRY_ASSIGN(auto loaded, recipe::load_prompt_pack(path, version));
  pack = std::make_shared<recipe::PromptPack>(std::move(loaded));
  return pack;
}

Result<RecipeLab::EncodingPtr> RecipeLab::encoding(ModelVersion version) {
  EncodingPtr& encoding = encodings_[version];
  if (encoding != nullptr) return encoding;
  TROUPE_TRY_ASSIGN(auto boilerplate, pack(version));
  TROUPE_TRY_ASSIGN(encoding, recipe::make_encoding(model_of(version), std::move(boilerplate)));
  return encoding;
}

Result<RecipeLab::TokenizerPtr> RecipeLab::tokenizer(ModelVersion version) {
  std::string path = options_.tokenizer;
  if (path.empty()) {
    const Row* row = find_row(model_of(version));
    TROUPE_ASSERT(row != nullptr && options_.pulled, "there is a way to find files");
    if (!row->is_pulled) {
      return Error{Code::kInvalid, "the model '" + std::string(row->model) +
                                       "' has no tokenizer of its own: name one with --tokenizer"};
    }
    path = options_.pulled(row->model, PulledFile::kTokenizer);
  }
  TokenizerPtr& tokenizer = tokenizers_[path];
  if (tokenizer != nullptr) return tokenizer;
  auto loaded = load_tokenizer(path);
  if (!loaded.ok()) {
    tokenizers_.erase(path);
    return Error{loaded.error().code,
                 loaded.error().message + "; 'troupe model pull " + std::string(model_of(version)) +
                     "' fetches the tokenizer, --tokenizer FILE names another"};
  }
  tokenizer = *loaded;
  return tokenizer;
}

Result<recipe::ConversionOptions> RecipeLab::conversion_options(std::string_view request_model) {
  recipe::ConversionOptions options;
  options.compat = options_.compat;
  if (options_.compat == recipe::Compat::kDefault) {
    for (const Row& row : kRows) options.models[std::string(row.model)] = row.version;
  }
  if (!options_.model.empty()) options.models[std::string(request_model)] = version_;
  for (const auto& [version, slot] : {std::pair(ModelVersion::kDeepseekV4, &options.pack_v4),
                                      std::pair(ModelVersion::kDeepseekV41, &options.pack_v41)}) {
    if (!options_.model.empty() && version != version_) continue;
    auto loaded = pack(version);
    if (loaded.ok()) *slot = *loaded;
    if (!loaded.ok() && loaded.error().code != Code::kNotFound) return loaded.error();
  }
  return options;
}

void RecipeLab::explain(recipe::RequestError& refused) const {
  if (refused.code != "model_not_found") return;
  const std::size_t sentence = refused.message.find(" GET /v1/models");
  refused.message.erase(std::min(sentence, refused.message.size()));
  refused.message += " Known are DeepSeek-V4-Pro, DeepSeek-V4.1-Flash, " + known_names() +
                     "; --model says how any other is encoded.";
}

}  // namespace troupe
