// One forward pass, step by step, and the memory that it works in.
//
// Why apart from llama.hpp: the model is what others hold; this is the arithmetic between kernels.
// Each step forks once over outputs, tokens or attention tiles; none divides a sum, so results do
// not depend on the division (llama.hpp, invariant 1).
//
// Requires: the rows passed check_rows(). Threads: one pass at a time in a workspace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/attention.hpp"
#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/matmul.hpp"
#include "kernels/cpu/thread_pool.hpp"
#include "runtime/model/kv_cache.hpp"
#include "runtime/model/llama_batch.hpp"
#include "runtime/model/llama_config.hpp"
#include "runtime/model/weights.hpp"

namespace troupe {

struct LlamaOptions;

/// A token of the batch: where it came from and where its keys and values go.
struct BatchToken {
  std::uint32_t position;
  BlockId block;
};

/// Consecutive tokens of one row and one KV head that attend together.
struct AttentionTask {
  std::uint32_t row;
  std::uint32_t token;  ///< first, counted through the batch
  std::uint32_t tokens;
  std::uint32_t kv_head;
};

/// Arrays are [token][size], for max_batch_tokens tokens.
struct LlamaWorkspace {
  LlamaWorkspace(const ModelConfig& config, const LlamaOptions& options);

  std::vector<float> hidden;
  std::vector<float> normed;
  std::vector<float> query;
  std::vector<float> key;
  std::vector<float> value;
  std::vector<float> attended;
  std::vector<float> projected;
  std::vector<float> gate;
  std::vector<float> up;
  std::vector<float> cosine;  ///< [token][rope_dims], each pair's value twice
  std::vector<float> sine;
  std::vector<BatchToken> tokens;
  std::vector<AttentionTask> tasks;
  std::vector<cpu::AttentionScratch> scratch;  ///< one a thread
};

class ForwardPass {
 public:
  ForwardPass(const ModelConfig& config, const LlamaWeights& weights, const cpu::Kernels& kernels,
              cpu::ThreadPool& pool, LlamaWorkspace& workspace, std::span<const ForwardRow> rows,
              KvCache& cache);

  void embed();
  /// hidden += output(attention(norm(hidden))); writes the layer's keys and values.
  void attention(std::uint32_t layer);
  /// hidden += down(silu(gate(norm(hidden))) * up(norm(hidden))).
  void feed_forward(std::uint32_t layer);
  /// head(norm(hidden)) of the rows that want it.
  void logits(std::span<float> out);

 private:
  void place_tokens();
  void plan_attention();
  void prepare_rotation();
  void rotate_and_store(std::uint32_t layer);
  void attend(std::uint32_t layer);
  void normalize(const std::vector<float>& weight);
  void multiply(const std::vector<float>& x, std::size_t stride,
                std::span<const cpu::Product> products);
  void add_projected();
  template <class F>
  void for_each_token(F&& f);

  const ModelConfig& config_;
  const LlamaWeights& weights_;
  const cpu::Kernels& kernels_;
  cpu::ThreadPool& pool_;
  LlamaWorkspace& work_;
  const std::span<const ForwardRow> rows_;
  KvCache& cache_;
};

}  // namespace troupe
