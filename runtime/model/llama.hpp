// A Llama-family model on CPU threads: RMSNorm, rotary positions, grouped-query attention, SwiGLU.
//
// What: forward() computes a batch of sequence chunks over a paged KV cache and returns logits.
// Activations are fp32 against quantized weights; nothing is rounded to 8 bits on the way.
//
// Invariants:
//   1. Batch invariance: the logits and KV of a token are bit-equal whatever other rows are in the
//      batch, however the prompt was cut into chunks, in whatever blocks it lies, and however many
//      threads compute. (kernels/cpu/matmul.hpp and attention.hpp say why.) Another kernel table
//      gives other roundings.
//   2. Bad rows are errors; no input reaches memory that is not its own.
//   3. A weight file whose tensors do not match its configuration does not load.
//
// Cost: load packs all weights (about the file's size in memory). A pass reads every weight once
// for all its tokens together.
//
// Threads: one forward() at a time; it may come from any thread and uses `threads` of them, itself
// included. Idle ones sleep. Ownership: keeps the GgufFile alive.
//
//   auto file = GgufFile::open(path);                       // handle errors
//   auto model = LlamaModel::load(*file, {.threads = 2});
//   KvCache cache(64, (*model)->config());
//   std::vector<float> logits((*model)->config().vocabulary);
//   ForwardRow row{.tokens = ids, .start = 0, .blocks = table, .want_logits = true};
//   Status status = (*model)->forward({&row, 1}, cache, logits, cancelled);
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/cpu/kernels.hpp"
#include "kernels/cpu/thread_pool.hpp"
#include "runtime/base/result.hpp"
#include "runtime/model/gguf.hpp"
#include "runtime/model/kv_cache.hpp"
#include "runtime/model/llama_batch.hpp"
#include "runtime/model/llama_config.hpp"
#include "runtime/model/weights.hpp"

namespace troupe {

struct LlamaWorkspace;

struct LlamaOptions {
  std::uint32_t threads = 1;             ///< 1 to 256
  std::uint32_t max_batch_tokens = 512;  ///< 1 to 65536; sizes the working memory
  /// Null: the fastest table that runs here.
  const cpu::Kernels* kernels = nullptr;
};

class LlamaModel {
 public:
  static Result<std::unique_ptr<LlamaModel>> load(std::shared_ptr<const GgufFile> file,
                                                  LlamaOptions options);
  ~LlamaModel();
  LlamaModel(const LlamaModel&) = delete;
  LlamaModel& operator=(const LlamaModel&) = delete;

  const ModelConfig& config() const { return config_; }
  const LlamaOptions& options() const { return options_; }

  /// Computes the rows' tokens, writes their keys and values into the cache, and for each row with
  /// want_logits, in order, `vocabulary` logits. Requires of the caller (or it is kInvalid):
  /// logits.size() == rows with want_logits * vocabulary.
  ///
  /// Checks `cancelled` before each layer: kCancelled then; logits and the rows' new KV slots are
  /// undefined, slots of earlier positions untouched.
  Status forward(std::span<const ForwardRow> rows, KvCache& cache, std::span<float> logits,
                 const std::atomic<bool>& cancelled);

 private:
  LlamaModel(std::shared_ptr<const GgufFile> file, const ModelConfig& config, LlamaWeights weights,
             LlamaOptions options);

  std::shared_ptr<const GgufFile> file_;
  ModelConfig config_;
  LlamaWeights weights_;
  LlamaOptions options_;
  cpu::ThreadPool pool_;
  std::unique_ptr<LlamaWorkspace> workspace_;
};

}  // namespace troupe
