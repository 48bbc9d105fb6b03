// A small random Llama as a GGUF file in memory: seeded, so that every test sees the same weights.
//
// Its sizes are chosen to be awkward: output counts that are not multiples of a tile, a head length
// that is not a multiple of a vector pair, and every weight type somewhere.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/number_formats.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/model/llama.hpp"
#include "tests/runtime/model/gguf_builder.hpp"

namespace troupe::test {

/// `count` random weights of about this magnitude in their stored form.
inline std::string random_weights(Rng& rng, TensorType type, std::size_t count, float magnitude) {
  std::string out;
  const auto put = [&out](auto value) { GgufBuilder::put(out, value); };
  const auto number = [&] { return static_cast<float>(2 * rng.uniform() - 1) * magnitude; };
  const auto half = [&](float value) { put(cpu::float_to_half(value)); };
  if (type == TensorType::kF32) {
    for (std::size_t i = 0; i < count; ++i) put(number());
  } else if (type == TensorType::kF16) {
    for (std::size_t i = 0; i < count; ++i) half(number());
  } else if (type == TensorType::kBF16) {
    for (std::size_t i = 0; i < count; ++i) {
      put(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number()) >> 16));
    }
  } else {
    const std::size_t body = block_of(type).bytes - (type == TensorType::kQ4_1 ? 4 : 2);
    const float levels = type == TensorType::kQ8_0 ? 127.0f : 7.5f;
    for (std::size_t i = 0; i < count / 32; ++i) {
      half(magnitude / levels);
      if (type == TensorType::kQ4_1) half(-magnitude);
      for (std::size_t j = 0; j < body; ++j) put(static_cast<std::uint8_t>(rng.next()));
    }
  }
  return out;
}

/// The parts of a tiny model; tests change them before build() to make wrong ones.
struct TinyLlama {
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> shape;
    TensorType type;
    float magnitude;
  };

  std::uint32_t layers = 2;
  std::uint32_t hidden = 96;
  std::uint32_t heads = 6;
  std::uint32_t kv_heads = 2;
  std::uint32_t head_dim = 20;
  std::uint32_t rope_dims = 12;
  std::uint32_t feed_forward = 160;
  std::uint32_t vocabulary = 331;
  std::uint32_t context = 640;
  std::uint64_t seed = 1;
  bool tied = false;
  std::string architecture = "llama";
  std::vector<Tensor> extra;  ///< added to the model's own
  std::string dropped;        ///< a tensor that is left out
  std::string reshaped;       ///< a tensor with one row too many

  std::vector<Tensor> tensors() const {
    std::vector<Tensor> all;
    const auto matrix = [&](const std::string& name, std::uint64_t rows, std::uint64_t columns,
                            TensorType type) {
      all.push_back({name, {columns, rows}, type, 2.0f / std::sqrt(float(columns))});
    };
    matrix("token_embd.weight", vocabulary, hidden, TensorType::kQ8_0);
    if (!tied) matrix("output.weight", vocabulary, hidden, TensorType::kBF16);
    all.push_back({"output_norm.weight", {hidden}, TensorType::kF32, 1.0f});
    for (std::uint32_t i = 0; i < layers; ++i) {
      const std::string prefix = "blk." + std::to_string(i) + ".";
      const bool even = i % 2 == 0;
      all.push_back({prefix + "attn_norm.weight", {hidden}, TensorType::kF32, 1.0f});
      all.push_back({prefix + "ffn_norm.weight", {hidden}, TensorType::kF32, 1.0f});
      matrix(prefix + "attn_q.weight", heads * head_dim, hidden,
             even ? TensorType::kQ4_1 : TensorType::kQ4_0);
      matrix(prefix + "attn_k.weight", kv_heads * head_dim, hidden, TensorType::kF16);
      matrix(prefix + "attn_v.weight", kv_heads * head_dim, hidden, TensorType::kQ8_0);
      matrix(prefix + "attn_output.weight", hidden, heads * head_dim,
             even ? TensorType::kF16 : TensorType::kF32);
      matrix(prefix + "ffn_gate.weight", feed_forward, hidden, TensorType::kQ4_1);
      matrix(prefix + "ffn_up.weight", feed_forward, hidden, TensorType::kQ4_0);
      matrix(prefix + "ffn_down.weight", hidden, feed_forward,
             even ? TensorType::kQ4_1 : TensorType::kQ8_0);
    }
    all.insert(all.end(), extra.begin(), extra.end());
    return all;
  }

  Result<std::shared_ptr<const GgufFile>> build() const {
    GgufBuilder builder;
    put_keys(builder);
    Rng rng(seed);
    std::string data;
    for (auto tensor : tensors()) {
      if (tensor.name == dropped) continue;
      if (tensor.name == reshaped) ++tensor.shape.back();
      std::size_t count = 1;
      for (const auto size : tensor.shape) count *= size;
      builder.tensors.push_back(
          {tensor.name, static_cast<std::uint32_t>(tensor.type), tensor.shape, data.size()});
      data += random_weights(rng, tensor.type, count, tensor.magnitude);
      data.resize((data.size() + 31) / 32 * 32);
    }
    std::string text = builder.text();
    text.resize((text.size() + 31) / 32 * 32);
    return GgufBuilder::open(text + data);
  }

  /// Requires: the parts fit together.
  std::unique_ptr<LlamaModel> load(LlamaOptions options) const {
    return *LlamaModel::load(*build(), options);
  }

 private:
  void put_keys(GgufBuilder& builder) const {
    const auto size = [&](const std::string& key, std::uint32_t value) {
      builder.key("llama." + key, GgufKind::kUint32, value);
    };
    builder.string_key("general.architecture", architecture);
    size("block_count", layers);
    size("embedding_length", hidden);
    size("feed_forward_length", feed_forward);
    size("context_length", context);
    size("attention.head_count", heads);
    size("attention.head_count_kv", kv_heads);
    size("attention.key_length", head_dim);
    size("rope.dimension_count", rope_dims);
    builder.key("llama.rope.freq_base", GgufKind::kFloat32, 10000.0f);
    builder.key("llama.attention.layer_norm_rms_epsilon", GgufKind::kFloat32, 1e-5f);
  }
};

}  // namespace troupe::test
