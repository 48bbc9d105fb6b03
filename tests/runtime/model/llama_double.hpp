// The Llama forward pass in double precision, as directly as it can be written: the truth that the
// tiny models' logits are compared with. No cache, no batch, no kernels; one prompt, its last
// logits.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu/number_formats.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/model/gguf.hpp"
#include "runtime/model/llama_config.hpp"

namespace troupe::test {

using Numbers = std::vector<double>;

class DoubleLlama {
 public:
  DoubleLlama(const GgufFile& file, const ModelConfig& config) : file_(file), config_(config) {}

  Numbers last_logits(std::span<const TokenId> tokens) const {
    std::vector<Numbers> states;
    const Numbers embedding = weights("token_embd.weight");
    for (const TokenId token : tokens) {
      const auto* row = embedding.data() + std::size_t(token.value) * config_.hidden;
      states.emplace_back(row, row + config_.hidden);
    }
    for (std::uint32_t layer = 0; layer < config_.layers; ++layer) {
      const std::string prefix = "blk." + std::to_string(layer) + ".";
      attention(prefix, states);
      for (auto& state : states) feed_forward(prefix, state);
    }
    const bool untied = file_.find("output.weight") != nullptr;
    return product(untied ? "output.weight" : "token_embd.weight",
                   norm("output_norm.weight", states.back()));
  }

 private:
  Numbers weights(const std::string& name) const {
    const GgufTensor& tensor = *file_.find(name);
    std::vector<float> values(tensor.elements());
    const auto type = [&] {
      switch (tensor.type) {
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
        default:
          return cpu::WeightType::kQ4_1;
      }
    }();
    cpu::dequantize_row(type, tensor.data.data(), values);
    return {values.begin(), values.end()};
  }

  Numbers product(const std::string& name, const Numbers& x) const {
    const Numbers matrix = weights(name);
    Numbers y(matrix.size() / x.size(), 0.0);
    for (std::size_t i = 0; i < matrix.size(); ++i) y[i / x.size()] += matrix[i] * x[i % x.size()];
    return y;
  }

  Numbers norm(const std::string& name, const Numbers& x) const {
    const Numbers weight = weights(name);
    double sum = 0;
    for (const double v : x) sum += v * v;
    const double root = std::sqrt(sum / double(x.size()) + double(config_.norm_epsilon));
    Numbers out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] / root * weight[i];
    return out;
  }

  void rotate(Numbers& heads, std::size_t position) const {
    for (std::size_t start = 0; start < heads.size(); start += config_.head_dim) {
      for (std::uint32_t d = 0; d < config_.rope_dims; d += 2) {
        const double angle =
            double(position) / std::pow(double(config_.rope_base), double(d) / config_.rope_dims);
        double& x = heads[start + d];
        double& y = heads[start + d + 1];
        const double rotated = x * std::cos(angle) - y * std::sin(angle);
        y = y * std::cos(angle) + x * std::sin(angle);
        x = rotated;
      }
    }
  }

  void attention(const std::string& prefix, std::vector<Numbers>& states) const {
    std::vector<Numbers> keys;
    std::vector<Numbers> values;
    for (std::size_t position = 0; position < states.size(); ++position) {
      const Numbers x = norm(prefix + "attn_norm.weight", states[position]);
      Numbers queries = product(prefix + "attn_q.weight", x);
      keys.push_back(product(prefix + "attn_k.weight", x));
      values.push_back(product(prefix + "attn_v.weight", x));
      rotate(queries, position);
      rotate(keys.back(), position);
      Numbers mixed(queries.size(), 0.0);
      for (std::uint32_t head = 0; head < config_.heads; ++head) {
        attend_head(head, queries, keys, values, mixed);
      }
      const Numbers added = product(prefix + "attn_output.weight", mixed);
      for (std::size_t i = 0; i < added.size(); ++i) states[position][i] += added[i];
    }
  }

  void attend_head(std::uint32_t head, const Numbers& queries, const std::vector<Numbers>& keys,
                   const std::vector<Numbers>& values, Numbers& mixed) const {
    const std::size_t at = std::size_t{head} * config_.head_dim;
    const std::size_t kv_at = std::size_t{head / config_.group()} * config_.head_dim;
    Numbers powers;
    double sum = 0;
    for (const auto& key : keys) {
      double score = 0;
      for (std::size_t d = 0; d < config_.head_dim; ++d) score += queries[at + d] * key[kv_at + d];
      powers.push_back(std::exp(score / std::sqrt(double(config_.head_dim))));
      sum += powers.back();
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      for (std::size_t d = 0; d < config_.head_dim; ++d) {
        mixed[at + d] += powers[i] / sum * values[i][kv_at + d];
      }
    }
  }

  void feed_forward(const std::string& prefix, Numbers& state) const {
    const Numbers x = norm(prefix + "ffn_norm.weight", state);
    Numbers gate = product(prefix + "ffn_gate.weight", x);
    const Numbers up = product(prefix + "ffn_up.weight", x);
    for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
    const Numbers added = product(prefix + "ffn_down.weight", gate);
    for (std::size_t i = 0; i < added.size(); ++i) state[i] += added[i];
  }

  const GgufFile& file_;
  const ModelConfig& config_;
};

}  // namespace troupe::test
