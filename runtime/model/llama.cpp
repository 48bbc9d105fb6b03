#include "runtime/model/llama.hpp"

#include <string>
#include <utility>

#include "runtime/base/engine_limits.hpp"
#include "runtime/model/llama_forward.hpp"

namespace troupe {
namespace {

Status check_options(const LlamaOptions& options) {
  if (options.threads == 0 || options.threads > kCpuThreadsMax) {
    return Error{Code::kInvalid, "threads must be 1 to " + std::to_string(kCpuThreadsMax) +
                                     ", not " + std::to_string(options.threads)};
  }
  if (options.max_batch_tokens == 0 || options.max_batch_tokens > kStepTokensMax) {
    return Error{Code::kInvalid, "max_batch_tokens must be 1 to " + std::to_string(kStepTokensMax) +
                                     ", not " + std::to_string(options.max_batch_tokens)};
  }
  return ok_status();
}

}  // namespace

LlamaModel::LlamaModel(std::shared_ptr<const GgufFile> file, const ModelConfig& config,
                       LlamaWeights weights, LlamaOptions options)
    : file_(std::move(file)),
      config_(config),
      weights_(std::move(weights)),
      options_(options),
      pool_(options.threads),
      workspace_(std::make_unique<LlamaWorkspace>(config, options)) {}

LlamaModel::~LlamaModel() = default;

Result<std::unique_ptr<LlamaModel>> LlamaModel::load(std::shared_ptr<const GgufFile> file,
                                                     LlamaOptions options) {
  TROUPE_TRY(check_options(options));
  if (options.kernels == nullptr) options.kernels = &cpu::kernels();
  TROUPE_TRY_ASSIGN(const ModelConfig config, read_llama_config(*file));
  TROUPE_TRY_ASSIGN(LlamaWeights weights, LlamaWeights::load(*file, config));
  return std::unique_ptr<LlamaModel>(
      new LlamaModel(std::move(file), config, std::move(weights), options));
}

Status LlamaModel::forward(std::span<const ForwardRow> rows, KvCache& cache,
                           std::span<float> logits, const std::atomic<bool>& cancelled) {
  TROUPE_TRY(check_rows(rows, config_, cache, options_.max_batch_tokens));
  const std::size_t wanted = logits_row_count(rows) * config_.vocabulary;
  if (logits.size() != wanted) {
    return Error{Code::kInvalid, "room for " + std::to_string(logits.size()) +
                                     " logits, the rows give " + std::to_string(wanted)};
  }
  ForwardPass pass(config_, weights_, *options_.kernels, pool_, *workspace_, rows, cache);
  pass.embed();
  for (std::uint32_t layer = 0; layer < config_.layers; ++layer) {
    if (cancelled.load(std::memory_order_relaxed)) {
      return Error{Code::kCancelled, "the forward pass was cancelled"};
    }
    pass.attention(layer);
    pass.feed_forward(layer);
  }
  pass.logits(logits);
  return ok_status();
}

}  // namespace troupe
