#include "runtime/model/llama_batch.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace troupe {
namespace {

Error row_error(Code code, std::size_t row, const std::string& what) {
  return Error{code, "forward row " + std::to_string(row) + ": " + what};
}

Status check_row(const ForwardRow& row, std::size_t index, const ModelConfig& config,
                 const KvCache& cache) {
  if (row.tokens.empty()) return row_error(Code::kInvalid, index, "has no tokens");
  const std::uint64_t end = std::uint64_t{row.start} + row.tokens.size();
  if (end > config.context) {
    return row_error(Code::kTooLarge, index,
                     "reaches position " + std::to_string(end) + ", the model's context is " +
                         std::to_string(config.context));
  }
  const std::size_t blocks = (end + kBlockTokens - 1) / kBlockTokens;
  if (row.blocks.size() < blocks) {
    return row_error(Code::kInvalid, index,
                     "needs " + std::to_string(blocks) + " blocks, its table has " +
                         std::to_string(row.blocks.size()));
  }
  for (const BlockId block : row.blocks.first(blocks)) {
    if (block.value >= cache.block_count()) {
      return row_error(Code::kInvalid, index,
                       "names block " + std::to_string(block.value) + " of " +
                           std::to_string(cache.block_count()));
    }
  }
  for (const TokenId token : row.tokens) {
    if (token.value < 0 || static_cast<std::uint32_t>(token.value) >= config.vocabulary) {
      return row_error(Code::kInvalid, index,
                       "has token id " + std::to_string(token.value) + ", the vocabulary has " +
                           std::to_string(config.vocabulary));
    }
  }
  return ok_status();
}

/// Slots of the pool, counted through all blocks.
struct WrittenSlots {
  std::uint64_t first;
  std::uint64_t end;
  std::size_t row;
};

Status check_writes_are_disjoint(std::span<const ForwardRow> rows) {
  std::vector<WrittenSlots> written;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t end = rows[i].start + rows[i].tokens.size();
    for (std::uint64_t position = rows[i].start; position < end;) {
      const std::uint64_t block = position / kBlockTokens;
      const std::uint64_t stop = std::min(end, (block + 1) * kBlockTokens);
      const std::uint64_t base = std::uint64_t{rows[i].blocks[block].value} * kBlockTokens;
      const std::uint64_t slot = base + position % kBlockTokens;
      written.push_back({slot, slot + (stop - position), i});
      position = stop;
    }
  }
  std::sort(written.begin(), written.end(),
            [](const WrittenSlots& a, const WrittenSlots& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < written.size(); ++i) {
    if (written[i].first < written[i - 1].end) {
      return row_error(Code::kInvalid, written[i].row,
                       "writes the same KV slots of block " +
                           std::to_string(written[i].first / kBlockTokens) + " as row " +
                           std::to_string(written[i - 1].row));
    }
  }
  return ok_status();
}

}  // namespace

std::size_t token_count(std::span<const ForwardRow> rows) {
  std::size_t count = 0;
  for (const auto& row : rows) count += row.tokens.size();
  return count;
}

std::size_t logits_row_count(std::span<const ForwardRow> rows) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const auto& row) { return row.want_logits; }));
}

Status check_rows(std::span<const ForwardRow> rows, const ModelConfig& config, const KvCache& cache,
                  std::size_t tokens_max) {
  if (!cache.fits(config)) {
    return Error{Code::kInvalid, "the KV cache was made for a model of another shape"};
  }
  if (token_count(rows) > tokens_max) {
    return Error{Code::kTooLarge, "a forward pass of " + std::to_string(token_count(rows)) +
                                      " tokens, the limit is " + std::to_string(tokens_max)};
  }
  for (std::size_t i = 0; i < rows.size(); ++i) TROUPE_TRY(check_row(rows[i], i, config, cache));
  return check_writes_are_disjoint(rows);
}

}  // namespace troupe
