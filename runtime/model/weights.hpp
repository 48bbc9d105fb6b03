// The weights of a Llama-family model, checked and packed for the CPU kernels.
//
// Why: a GGUF file's tensors are bytes with a name. Before anything multiplies with them, every
// tensor that the configuration needs must be there with exactly the shape it implies, and no
// other tensor may be there: an unknown one (a bias, say) would mean that the forward pass computes
// something else than the model's author did.
//
// Memory: one packed copy of every matrix, about the size of the file. A tied output head is packed
// from the embedding; lookups of single tokens read the embedding in the file itself.
//
// Threads: immutable after load. Ownership: `embedding` points into the GgufFile, which must live
// on.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cpu/packed_matrix.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/model/gguf.hpp"
#include "runtime/model/llama_config.hpp"

namespace troupe {

struct LlamaLayer {
  std::vector<float> attention_norm;
  std::vector<float> feed_forward_norm;
  cpu::PackedMatrix query;
  cpu::PackedMatrix key;
  cpu::PackedMatrix value;
  cpu::PackedMatrix output;
  cpu::PackedMatrix gate;
  cpu::PackedMatrix up;
  cpu::PackedMatrix down;
};

struct LlamaWeights {
  const GgufTensor* embedding = nullptr;
  std::vector<LlamaLayer> layers;
  std::vector<float> output_norm;
  cpu::PackedMatrix head;
  /// Angle per position of each rotated pair.
  std::vector<float> rope_frequencies;

  /// Requires: config was read from this file. Errors name file, tensor, expected and found shape.
  static Result<LlamaWeights> load(const GgufFile& file, const ModelConfig& config);

  /// Writes the embedding of a token. Requires: id is in the vocabulary; out.size() == hidden.
  void embed(TokenId id, std::span<float> out) const;
};

}  // namespace troupe
