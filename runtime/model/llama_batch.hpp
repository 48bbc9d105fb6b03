// What one forward pass is asked to compute, checked.
//
// Why: the scheduler above composes batches of prefill chunks and decode tokens of many sequences.
// A mistake there must come back as an error, never as a read outside of a table or as two rows
// that write the same KV slot from two threads.
//
// Threads: pure. Ownership: spans point to the caller's data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/model/kv_cache.hpp"
#include "runtime/model/llama_config.hpp"

namespace troupe {

/// A chunk of one sequence: a prompt or a part of it, or the last token of a running sequence.
struct ForwardRow {
  std::span<const TokenId> tokens;
  std::uint32_t start = 0;          ///< position of the first token; KV before it is in the cache
  std::span<const BlockId> blocks;  ///< of the sequence, from position 0; may be longer than needed
  bool want_logits = false;         ///< of the row's last token
};

std::size_t token_count(std::span<const ForwardRow> rows);
std::size_t logits_row_count(std::span<const ForwardRow> rows);

/// Checks every row against the model, the cache and the limit of tokens of a pass. kInvalid or
/// kTooLarge errors name the row. Also refuses two rows that write to the same slot.
Status check_rows(std::span<const ForwardRow> rows, const ModelConfig& config, const KvCache& cache,
                  std::size_t tokens_max);

}  // namespace troupe
