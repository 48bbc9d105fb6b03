// The sizes and constants of a Llama-family model, read from a GGUF file's metadata.
//
// Why its own unit: everything later (weight shapes, KV memory, batch checks) relies on these
// numbers, so they are checked once, here, before any memory is sized by them.
//
// Keys: "llama.*" of the GGUF specification. Refused with kUnsupported: other architectures,
// mixture of experts, rotary scaling other than the rope_freqs.weight tensor.
//
// Invariants after read_llama_config():
//   1. All sizes are positive and within the bounds of llama_config.cpp, so that products of two of
//      them fit in 64 bits.
//   2. heads is a multiple of kv_heads; head_dim and rope_dims are even; rope_dims <= head_dim.
#pragma once

#include <cstdint>

#include "runtime/base/result.hpp"
#include "runtime/model/gguf.hpp"

namespace troupe {

struct ModelConfig {
  std::uint32_t layers = 0;
  std::uint32_t hidden = 0;    ///< length of a token's state
  std::uint32_t heads = 0;     ///< query heads
  std::uint32_t kv_heads = 0;  ///< key/value heads; heads / kv_heads queries share one
  std::uint32_t head_dim = 0;
  std::uint32_t feed_forward = 0;  ///< inner length of the gated feed-forward layer
  std::uint32_t vocabulary = 0;    ///< number of token ids
  std::uint32_t context = 0;       ///< positions the model was made for
  std::uint32_t rope_dims = 0;     ///< leading dimensions of a head that are rotated
  float rope_base = 0;
  float norm_epsilon = 0;

  std::uint32_t group() const { return heads / kv_heads; }
  std::uint32_t query_size() const { return heads * head_dim; }
  std::uint32_t kv_size() const { return kv_heads * head_dim; }

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// Errors name the file, the key, and what was expected.
Result<ModelConfig> read_llama_config(const GgufFile& file);

}  // namespace troupe
