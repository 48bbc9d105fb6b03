#include "runtime/model/weights.hpp"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

namespace troupe {
namespace {

cpu::WeightType weight_type(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return cpu::WeightType::kF32;
    case TensorType::kF16:
      return cpu::WeightType::kF16;
    case TensorType::kBF16:
      return cpu::WeightType::kBF16;
    case TensorType::kQ8_0:
      return cpu::WeightType::kQ8_0;
    case TensorType::kQ4_0:
      return cpu::WeightType::kQ4_0;
    case TensorType::kQ4_1:
      return cpu::WeightType::kQ4_1;
  }
  TROUPE_ASSERT(false, "the GGUF reader admits these types only");
  return cpu::WeightType::kF32;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

/// Takes tensors out of a file by name and shape, and knows which were taken.
class TensorReader {
 public:
  explicit TensorReader(const GgufFile& file) : file_(file) {}

  bool has(std::string_view name) const { return file_.find(name) != nullptr; }

  Result<const GgufTensor*> take(const std::string& name,
                                 std::initializer_list<std::uint64_t> shape) {
    const GgufTensor* tensor = file_.find(name);
    const std::vector<std::uint64_t> expected(shape);
    if (tensor == nullptr) {
      return Error{Code::kCorrupt, file_.path() + ": tensor " + name + " of shape " +
                                       shape_text(expected) + " is missing"};
    }
    if (tensor->shape != expected) {
      return Error{Code::kCorrupt, file_.path() + ": tensor " + name + " has shape " +
                                       shape_text(tensor->shape) + ", the configuration needs " +
                                       shape_text(expected)};
    }
    taken_.insert(name);
    return tensor;
  }

  Result<std::vector<float>> vector(const std::string& name, std::uint64_t size) {
    TROUPE_TRY_ASSIGN(const GgufTensor* tensor, take(name, {size}));
    std::vector<float> values(size);
    cpu::dequantize_row(weight_type(tensor->type), tensor->data.data(), values);
    return values;
  }

  /// Requires: rows and columns as the kernels name them: y[rows] = W x[columns].
  Result<cpu::PackedMatrix> matrix(const std::string& name, std::uint64_t rows,
                                   std::uint64_t columns) {
    TROUPE_TRY_ASSIGN(const GgufTensor* tensor, take(name, {columns, rows}));
    return cpu::PackedMatrix::pack(weight_type(tensor->type), tensor->data, rows, columns);
  }

  Status check_all_taken() const {
    for (const auto& tensor : file_.tensors()) {
      if (!taken_.contains(tensor.name)) {
        return Error{Code::kUnsupported, file_.path() + ": tensor " + tensor.name +
                                             " is not part of the supported Llama models"};
      }
    }
    return ok_status();
  }

 private:
  const GgufFile& file_;
  std::set<std::string> taken_;
};

Result<LlamaLayer> load_layer(TensorReader& reader, const ModelConfig& config,
                              std::uint32_t index) {
  const std::string prefix = "blk." + std::to_string(index) + ".";
  const std::uint64_t hidden = config.hidden;
  const std::uint64_t inner = config.feed_forward;
  const std::uint64_t queries = config.query_size();
  const std::uint64_t keys = config.kv_size();
  LlamaLayer layer;
  TROUPE_TRY_ASSIGN(layer.attention_norm, reader.vector(prefix + "attn_norm.weight", hidden));
  TROUPE_TRY_ASSIGN(layer.feed_forward_norm, reader.vector(prefix + "ffn_norm.weight", hidden));
  TROUPE_TRY_ASSIGN(layer.query, reader.matrix(prefix + "attn_q.weight", queries, hidden));
  TROUPE_TRY_ASSIGN(layer.key, reader.matrix(prefix + "attn_k.weight", keys, hidden));
  TROUPE_TRY_ASSIGN(layer.value, reader.matrix(prefix + "attn_v.weight", keys, hidden));
  TROUPE_TRY_ASSIGN(layer.output, reader.matrix(prefix + "attn_output.weight", hidden, queries));
  TROUPE_TRY_ASSIGN(layer.gate, reader.matrix(prefix + "ffn_gate.weight", inner, hidden));
  TROUPE_TRY_ASSIGN(layer.up, reader.matrix(prefix + "ffn_up.weight", inner, hidden));
  TROUPE_TRY_ASSIGN(layer.down, reader.matrix(prefix + "ffn_down.weight", hidden, inner));
  return layer;
}

/// base^(-2i/dims) for pair i; Llama 3.1 files divide each by a number of rope_freqs.weight.
Result<std::vector<float>> load_frequencies(TensorReader& reader, const ModelConfig& config) {
  const std::uint32_t pairs = config.rope_dims / 2;
  std::vector<float> divisors(pairs, 1.0f);
  if (reader.has("rope_freqs.weight")) {
    TROUPE_TRY_ASSIGN(divisors, reader.vector("rope_freqs.weight", pairs));
  }
  std::vector<float> frequencies(pairs);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    const double exponent = 2.0 * i / config.rope_dims;
    frequencies[i] =
        static_cast<float>(1.0 / std::pow(static_cast<double>(config.rope_base), exponent)) /
        divisors[i];
  }
  return frequencies;
}

}  // namespace

Result<LlamaWeights> LlamaWeights::load(const GgufFile& file, const ModelConfig& config) {
  TensorReader reader(file);
  LlamaWeights weights;
  const std::uint64_t hidden = config.hidden;
  const std::uint64_t vocabulary = config.vocabulary;
  TROUPE_TRY_ASSIGN(weights.embedding, reader.take("token_embd.weight", {hidden, vocabulary}));
  TROUPE_TRY_ASSIGN(weights.output_norm, reader.vector("output_norm.weight", hidden));
  TROUPE_TRY_ASSIGN(weights.rope_frequencies, load_frequencies(reader, config));
  const std::string head = reader.has("output.weight") ? "output.weight" : "token_embd.weight";
  TROUPE_TRY_ASSIGN(weights.head, reader.matrix(head, vocabulary, hidden));
  for (std::uint32_t i = 0; i < config.layers; ++i) {
    TROUPE_TRY_ASSIGN(LlamaLayer layer, load_layer(reader, config, i));
    weights.layers.push_back(std::move(layer));
  }
  TROUPE_TRY(reader.check_all_taken());
  return weights;
}

void LlamaWeights::embed(TokenId id, std::span<float> out) const {
  const std::size_t row = static_cast<std::size_t>(id.value) * embedding->row_bytes();
  cpu::dequantize_row(weight_type(embedding->type), embedding->data.data() + row, out);
}

}  // namespace troupe
