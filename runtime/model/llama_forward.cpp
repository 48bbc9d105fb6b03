#include "runtime/model/llama_forward.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/model/llama.hpp"

namespace troupe {

LlamaWorkspace::LlamaWorkspace(const ModelConfig& config, const LlamaOptions& options) {
  const std::size_t count = options.max_batch_tokens;
  hidden.resize(count * config.hidden);
  normed.resize(count * config.hidden);
  query.resize(count * config.query_size());
  key.resize(count * config.kv_size());
  value.resize(count * config.kv_size());
  attended.resize(count * config.query_size());
  projected.resize(count * config.hidden);
  gate.resize(count * config.feed_forward);
  up.resize(count * config.feed_forward);
  cosine.resize(count * config.rope_dims);
  sine.resize(count * config.rope_dims);
  tokens.reserve(count);
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    scratch.emplace_back(config.group(), config.head_dim);
  }
}

ForwardPass::ForwardPass(const ModelConfig& config, const LlamaWeights& weights,
                         const cpu::Kernels& kernels, cpu::ThreadPool& pool,
                         LlamaWorkspace& workspace, std::span<const ForwardRow> rows,
                         KvCache& cache)
    : config_(config),
      weights_(weights),
      kernels_(kernels),
      pool_(pool),
      work_(workspace),
      rows_(rows),
      cache_(cache) {
  place_tokens();
  plan_attention();
  prepare_rotation();
}

/// f(token) for every token of the batch, some tokens a task.
template <class F>
void ForwardPass::for_each_token(F&& f) {
  constexpr std::size_t kTokensPerTask = 16;
  const std::size_t count = work_.tokens.size();
  pool_.run((count + kTokensPerTask - 1) / kTokensPerTask, [&](std::size_t task, std::size_t) {
    const std::size_t end = std::min(count, (task + 1) * kTokensPerTask);
    for (std::size_t token = task * kTokensPerTask; token < end; ++token) f(token);
  });
}

void ForwardPass::place_tokens() {
  work_.tokens.clear();
  for (const auto& row : rows_) {
    for (std::uint32_t i = 0; i < row.tokens.size(); ++i) {
      const std::uint32_t position = row.start + i;
      work_.tokens.push_back({position, row.blocks[position / kBlockTokens]});
    }
  }
}

void ForwardPass::plan_attention() {
  const auto tile = static_cast<std::uint32_t>(cpu::AttentionScratch::tile_tokens(config_.group()));
  work_.tasks.clear();
  std::uint32_t first = 0;
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    const auto count = static_cast<std::uint32_t>(rows_[row].tokens.size());
    for (std::uint32_t head = 0; head < config_.kv_heads; ++head) {
      for (std::uint32_t i = 0; i < count; i += tile) {
        work_.tasks.push_back({row, first + i, std::min(tile, count - i), head});
      }
    }
    first += count;
  }
}

/// Angles are products of fp32 numbers, as in the models' own training code; their cosines are not.
void ForwardPass::prepare_rotation() {
  const std::uint32_t dims = config_.rope_dims;
  for_each_token([&](std::size_t token) {
    const auto position = static_cast<float>(work_.tokens[token].position);
    for (std::uint32_t d = 0; d < dims; ++d) {
      const double angle = position * weights_.rope_frequencies[d / 2];
      work_.cosine[token * dims + d] = static_cast<float>(std::cos(angle));
      work_.sine[token * dims + d] = static_cast<float>(std::sin(angle));
    }
  });
}

void ForwardPass::embed() {
  std::size_t token = 0;
  for (const auto& row : rows_) {
    for (const TokenId id : row.tokens) {
      weights_.embed(id, {work_.hidden.data() + token++ * config_.hidden, config_.hidden});
    }
  }
}

void ForwardPass::normalize(const std::vector<float>& weight) {
  const std::size_t size = config_.hidden;
  for_each_token([&](std::size_t token) {
    kernels_.rms_norm(work_.hidden.data() + token * size, weight.data(), config_.norm_epsilon, size,
                      work_.normed.data() + token * size);
  });
}

void ForwardPass::multiply(const std::vector<float>& x, std::size_t stride,
                           std::span<const cpu::Product> products) {
  cpu::matmul(kernels_, pool_, {x.data(), stride, work_.tokens.size()}, products);
}

void ForwardPass::add_projected() {
  const std::size_t size = config_.hidden;
  for_each_token([&](std::size_t token) {
    kernels_.add(work_.hidden.data() + token * size, work_.projected.data() + token * size, size);
  });
}

void ForwardPass::attention(std::uint32_t layer) {
  const LlamaLayer& weights = weights_.layers[layer];
  normalize(weights.attention_norm);
  multiply(work_.normed, config_.hidden,
           std::array<cpu::Product, 3>{{{&weights.query, work_.query.data(), config_.query_size()},
                                        {&weights.key, work_.key.data(), config_.kv_size()},
                                        {&weights.value, work_.value.data(), config_.kv_size()}}});
  rotate_and_store(layer);
  attend(layer);
  multiply(
      work_.attended, config_.query_size(),
      std::array<cpu::Product, 1>{{{&weights.output, work_.projected.data(), config_.hidden}}});
  add_projected();
}

void ForwardPass::rotate_and_store(std::uint32_t layer) {
  const std::uint32_t dims = config_.rope_dims;
  for_each_token([&](std::size_t token) {
    const float* cosine = work_.cosine.data() + token * dims;
    const float* sine = work_.sine.data() + token * dims;
    float* query = work_.query.data() + token * config_.query_size();
    float* key = work_.key.data() + token * config_.kv_size();
    for (std::uint32_t head = 0; head < config_.heads; ++head) {
      kernels_.rotate_pairs(query + head * config_.head_dim, cosine, sine, dims);
    }
    for (std::uint32_t head = 0; head < config_.kv_heads; ++head) {
      kernels_.rotate_pairs(key + head * config_.head_dim, cosine, sine, dims);
    }
    const BatchToken& placed = work_.tokens[token];
    cache_.store(layer, placed.block, placed.position % kBlockTokens, key,
                 work_.value.data() + token * config_.kv_size());
  });
}

void ForwardPass::attend(std::uint32_t layer) {
  const std::size_t size = config_.query_size();
  pool_.run(work_.tasks.size(), [&](std::size_t index, std::size_t worker) {
    const AttentionTask& task = work_.tasks[index];
    const std::size_t offset =
        task.token * size + task.kv_head * config_.group() * config_.head_dim;
    const cpu::QueryTile tile{.queries = work_.query.data() + offset,
                              .outputs = work_.attended.data() + offset,
                              .token_stride = size,
                              .tokens = task.tokens,
                              .position = work_.tokens[task.token].position,
                              .group = config_.group(),
                              .head_dim = config_.head_dim};
    cpu::attend(kernels_, tile, cache_.head(layer, task.kv_head, rows_[task.row].blocks),
                work_.scratch[worker]);
  });
}

void ForwardPass::feed_forward(std::uint32_t layer) {
  const LlamaLayer& weights = weights_.layers[layer];
  const std::size_t inner = config_.feed_forward;
  normalize(weights.feed_forward_norm);
  multiply(work_.normed, config_.hidden,
           std::array<cpu::Product, 2>{
               {{&weights.gate, work_.gate.data(), inner}, {&weights.up, work_.up.data(), inner}}});
  for_each_token([&](std::size_t token) {
    kernels_.silu_multiply(work_.gate.data() + token * inner, work_.up.data() + token * inner,
                           inner);
  });
  multiply(work_.gate, inner,
           std::array<cpu::Product, 1>{{{&weights.down, work_.projected.data(), config_.hidden}}});
  add_projected();
}

void ForwardPass::logits(std::span<float> out) {
  const std::size_t size = config_.hidden;
  std::size_t wanted = 0;
  std::size_t end = 0;
  for (const auto& row : rows_) {
    end += row.tokens.size();
    if (!row.want_logits) continue;
    kernels_.rms_norm(work_.hidden.data() + (end - 1) * size, weights_.output_norm.data(),
                      config_.norm_epsilon, size, work_.normed.data() + wanted++ * size);
  }
  cpu::matmul(kernels_, pool_, {work_.normed.data(), size, wanted},
              std::array<cpu::Product, 1>{{{&weights_.head, out.data(), config_.vocabulary}}});
}

}  // namespace troupe
