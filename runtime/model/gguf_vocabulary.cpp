#include "runtime/model/gguf_vocabulary.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace troupe {
namespace {

/// Token types as GGUF numbers them; unknown (2) and control (3) are structure, byte tokens (6)
/// occur in other tokenizer models only.
TokenKind kind_of(std::int64_t type) {
  switch (type) {
    case 2:
    case 3:
      return TokenKind::kControl;
    case 4:
      return TokenKind::kUserDefined;
    case 5:
      return TokenKind::kUnused;
    default:
      return TokenKind::kNormal;
  }
}

/// Control tokens that end a turn in every family that has them, also where no key says so.
constexpr std::array<std::string_view, 5> kEndSpellings = {
    "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"};

Result<std::optional<TokenId>> token_key(const GgufFile& file, std::string_view key) {
  if (!file.has(key)) return std::optional<TokenId>();
  TROUPE_TRY_ASSIGN(const auto id, file.unsigned_value(key));
  if (id > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    return Error{Code::kCorrupt, file.path() + ": the key " + std::string(key) + " is " +
                                     std::to_string(id) + ", which is no token"};
  }
  return std::optional(TokenId(static_cast<std::int32_t>(id)));
}

Status read_ends(const GgufFile& file, Vocabulary& vocabulary) {
  const auto add = [&](std::optional<TokenId> id) {
    auto& ends = vocabulary.ends;
    if (id && std::find(ends.begin(), ends.end(), *id) == ends.end()) ends.push_back(*id);
  };
  add(vocabulary.eos);
  for (const auto key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    TROUPE_TRY_ASSIGN(const auto id, token_key(file, key));
    add(id);
  }
  for (std::size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const bool ends = vocabulary.kinds[i] == TokenKind::kControl &&
                      std::find(kEndSpellings.begin(), kEndSpellings.end(), vocabulary.tokens[i]) !=
                          kEndSpellings.end();
    if (ends) add(TokenId(static_cast<std::int32_t>(i)));
  }
  return ok_status();
}

}  // namespace

Result<Vocabulary> vocabulary_of(const GgufFile& file) {
  TROUPE_TRY_ASSIGN(const auto model, file.string_value("tokenizer.ggml.model"));
  if (model != "gpt2") {
    return Error{Code::kUnsupported, file.path() + ": its tokenizer is \"" +
                                         std::string(model.substr(0, 64)) +
                                         "\"; only byte-level BPE (\"gpt2\") is supported"};
  }
  Vocabulary vocabulary;
  TROUPE_TRY_ASSIGN(const auto tokens, file.string_array("tokenizer.ggml.tokens"));
  TROUPE_TRY_ASSIGN(const auto merges, file.string_array("tokenizer.ggml.merges"));
  vocabulary.tokens.assign(tokens.begin(), tokens.end());
  vocabulary.merges.assign(merges.begin(), merges.end());
  TROUPE_TRY_ASSIGN(const auto types, file.int_array("tokenizer.ggml.token_type"));
  if (types.size() != tokens.size()) {
    return Error{Code::kCorrupt, file.path() + ": " + std::to_string(tokens.size()) +
                                     " tokens have " + std::to_string(types.size()) + " types"};
  }
  for (const auto type : types) vocabulary.kinds.push_back(kind_of(type));
  vocabulary.pre_tokenizer = "default";
  if (file.has("tokenizer.ggml.pre")) {
    TROUPE_TRY_ASSIGN(vocabulary.pre_tokenizer, file.string_value("tokenizer.ggml.pre"));
  }
  if (file.has("tokenizer.ggml.add_bos_token")) {
    TROUPE_TRY_ASSIGN(vocabulary.add_bos, file.bool_value("tokenizer.ggml.add_bos_token"));
  }
  TROUPE_TRY_ASSIGN(vocabulary.bos, token_key(file, "tokenizer.ggml.bos_token_id"));
  TROUPE_TRY_ASSIGN(vocabulary.eos, token_key(file, "tokenizer.ggml.eos_token_id"));
  TROUPE_TRY(read_ends(file, vocabulary));
  return vocabulary;
}

}  // namespace troupe
