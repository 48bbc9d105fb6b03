#include "runtime/model/llama_config.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace troupe {
namespace {

// Bounds: several times the largest published Llama (405B: 126 layers, 16384 wide, 128 heads, 53248
// feed-forward, 128256 tokens, 131072 positions).
constexpr std::uint64_t kLayersMax = 1024;
constexpr std::uint64_t kHiddenMax = 1u << 17;
constexpr std::uint64_t kHeadsMax = 1024;
constexpr std::uint64_t kHeadDimMax = 1024;
constexpr std::uint64_t kFeedForwardMax = 1u << 19;
constexpr std::uint64_t kVocabularyMax = 1u << 22;
constexpr std::uint64_t kContextMax = 1u << 24;

Error config_error(const GgufFile& file, Code code, std::string_view key, std::string_view what) {
  return Error{code, file.path() + ": " + std::string(key) + " " + std::string(what)};
}

Result<std::uint32_t> read_size(const GgufFile& file, std::string_view key, std::uint64_t maximum) {
  TROUPE_TRY_ASSIGN(const std::uint64_t value, file.unsigned_value(key));
  if (value == 0 || value > maximum) {
    return config_error(
        file, Code::kUnsupported, key,
        "is " + std::to_string(value) + ", supported are 1 to " + std::to_string(maximum));
  }
  return static_cast<std::uint32_t>(value);
}

Result<std::uint32_t> read_size_or(const GgufFile& file, std::string_view key,
                                   std::uint64_t maximum, std::uint32_t otherwise) {
  if (!file.has(key)) return otherwise;
  return read_size(file, key, maximum);
}

Result<float> read_positive(const GgufFile& file, std::string_view key) {
  TROUPE_TRY_ASSIGN(const double value, file.real_value(key));
  const auto number = static_cast<float>(value);
  if (!std::isfinite(number) || number <= 0) {
    return config_error(file, Code::kCorrupt, key, "is not a positive number");
  }
  return number;
}

/// Refuses variants that this forward pass would compute wrongly.
Status check_variant(const GgufFile& file) {
  TROUPE_TRY_ASSIGN(const std::string_view name, file.string_value("general.architecture"));
  if (name != "llama") {
    return config_error(file, Code::kUnsupported, "general.architecture",
                        "is '" + std::string(name) + "', only 'llama' is supported");
  }
  if (file.has("llama.expert_count")) {
    TROUPE_TRY_ASSIGN(const std::uint64_t experts, file.unsigned_value("llama.expert_count"));
    if (experts > 0) {
      return config_error(file, Code::kUnsupported, "llama.expert_count",
                          "is not 0: mixture of experts is not supported");
    }
  }
  if (file.has("llama.rope.scaling.type")) {
    TROUPE_TRY_ASSIGN(const std::string_view type, file.string_value("llama.rope.scaling.type"));
    if (type != "none") {
      return config_error(file, Code::kUnsupported, "llama.rope.scaling.type",
                          "is '" + std::string(type) + "', only 'none' is supported");
    }
  }
  return ok_status();
}

Status read_heads(const GgufFile& file, ModelConfig& config) {
  TROUPE_TRY_ASSIGN(config.heads, read_size(file, "llama.attention.head_count", kHeadsMax));
  TROUPE_TRY_ASSIGN(config.kv_heads,
                    read_size_or(file, "llama.attention.head_count_kv", kHeadsMax, config.heads));
  if (config.heads % config.kv_heads != 0) {
    return config_error(file, Code::kCorrupt, "llama.attention.head_count",
                        "is not a multiple of llama.attention.head_count_kv");
  }
  const std::string_view key = "llama.attention.key_length";
  if (!file.has(key) && config.hidden % config.heads != 0) {
    return config_error(file, Code::kCorrupt, "llama.embedding_length",
                        "is not a multiple of llama.attention.head_count");
  }
  TROUPE_TRY_ASSIGN(config.head_dim,
                    read_size_or(file, key, kHeadDimMax, config.hidden / config.heads));
  TROUPE_TRY_ASSIGN(
      const std::uint32_t value_dim,
      read_size_or(file, "llama.attention.value_length", kHeadDimMax, config.head_dim));
  if (value_dim != config.head_dim) {
    return config_error(file, Code::kUnsupported, "llama.attention.value_length",
                        "differs from the key length");
  }
  TROUPE_TRY_ASSIGN(config.rope_dims,
                    read_size_or(file, "llama.rope.dimension_count", kHeadDimMax, config.head_dim));
  if (config.head_dim == 0 || config.head_dim > kHeadDimMax || config.head_dim % 2 != 0 ||
      config.rope_dims % 2 != 0 || config.rope_dims > config.head_dim) {
    return config_error(file, Code::kUnsupported, "llama.rope.dimension_count",
                        "and the head length must be even, the former not larger");
  }
  return ok_status();
}

Status read_vocabulary(const GgufFile& file, ModelConfig& config) {
  const GgufTensor* embedding = file.find("token_embd.weight");
  if (embedding == nullptr || embedding->shape.size() != 2 ||
      embedding->shape[1] > kVocabularyMax) {
    return config_error(file, Code::kCorrupt, "token_embd.weight",
                        "must be a matrix of at most " + std::to_string(kVocabularyMax) + " rows");
  }
  config.vocabulary = static_cast<std::uint32_t>(embedding->shape[1]);
  TROUPE_TRY_ASSIGN(const std::uint32_t stated,
                    read_size_or(file, "llama.vocab_size", kVocabularyMax, config.vocabulary));
  if (stated != config.vocabulary) {
    return config_error(file, Code::kCorrupt, "llama.vocab_size",
                        "is " + std::to_string(stated) + ", but token_embd.weight has " +
                            std::to_string(config.vocabulary) + " rows");
  }
  return ok_status();
}

}  // namespace

Result<ModelConfig> read_llama_config(const GgufFile& file) {
  TROUPE_TRY(check_variant(file));
  ModelConfig config;
  TROUPE_TRY_ASSIGN(config.layers, read_size(file, "llama.block_count", kLayersMax));
  TROUPE_TRY_ASSIGN(config.hidden, read_size(file, "llama.embedding_length", kHiddenMax));
  TROUPE_TRY_ASSIGN(config.feed_forward,
                    read_size(file, "llama.feed_forward_length", kFeedForwardMax));
  TROUPE_TRY_ASSIGN(config.context, read_size(file, "llama.context_length", kContextMax));
  TROUPE_TRY(read_heads(file, config));
  TROUPE_TRY(read_vocabulary(file, config));
  TROUPE_TRY_ASSIGN(config.norm_epsilon,
                    read_positive(file, "llama.attention.layer_norm_rms_epsilon"));
  config.rope_base = 10000.0f;  // what the GGUF specification says of an absent key
  if (file.has("llama.rope.freq_base")) {
    TROUPE_TRY_ASSIGN(config.rope_base, read_positive(file, "llama.rope.freq_base"));
  }
  return config;
}

}  // namespace troupe
