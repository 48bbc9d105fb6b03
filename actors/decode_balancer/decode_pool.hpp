// What a decode balancer knows of every GPU of every decode instance, and the questions that
// policies ask of it.
//
// Why flat: a request may go to any GPU of any instance (seed 000); instances only matter when they
// come, drain or end. A GPU has two loads. Rows set the batch size of its steps, tokens of KV set
// the time of attention; a step of the whole instance ends with its slowest GPU.
//
// Invariants
// 1. Loads count what was decided, at once: no report is waited for (stale completions cost more
//    than the choice of a rule: ALGOS 1.4).
// 2. The trees hold exactly the open GPUs: there, not draining, below their most rows.
// 3. On equal loads the choice goes by a hash of the request, so that several balancers, and an
//    idle cluster, do not all begin at the same GPU. If the first choice has no room (GPUs of
//    unequal memory), it is the first of equals that has.
//
// Cost: a question or a change is O(log GPUs), 0.05 to 0.3 µs at 512 GPUs. It is O(GPUs) where the
// GPUs of few rows do not pass: unequal memory that is nearly full, or fewest_rows() while few GPUs
// are within its tokens; and for most_tokens_of_few_rows() and next_after().
// Units: tokens and blocks of 128. Pure; one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/balance/winner_tree.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// A GPU of a DecodePool: an index that is used again after remove().
struct GpuId : Strong<GpuId, std::uint32_t> {
  using Strong::Strong;
};

/// What one request will take on a GPU.
struct DecodeNeed {
  std::uint64_t tokens = 0;  ///< its context and the output that is expected of it
  std::uint32_t blocks = 0;  ///< KV blocks for them
  std::uint64_t hash = 0;    ///< decides ties
};

struct alignas(64) DecodeGpu {
  std::uint32_t rows = 0;         ///< running and reserved
  std::uint64_t tokens = 0;       ///< the sum of their needs
  std::uint32_t blocks = 0;       ///< capacity
  std::uint32_t blocks_used = 0;  ///< by the reservations made here
  std::uint32_t rows_most = 0;    ///< a larger batch would miss the TPOT goal
  bool there = false;
  bool draining = false;
  // What others (other balancers' requests) have there, by its last report.
  std::uint32_t rows_elsewhere = 0;
  std::uint64_t tokens_elsewhere = 0;
  Time reported_at;

  std::uint64_t all_tokens() const { return tokens + tokens_elsewhere; }
  std::uint32_t all_rows() const { return rows + rows_elsewhere; }
  std::uint32_t blocks_free() const;
  bool open() const { return there && !draining && all_rows() < rows_most; }
};

class DecodePool {
 public:
  static constexpr std::uint64_t kAnyTokens = ~std::uint64_t{0};

  GpuId add(std::uint32_t blocks, std::uint32_t rows_most);
  /// Requires: its reservations were released.
  void remove(GpuId gpu);
  void set_draining(GpuId gpu, bool draining);

  /// Requires: fits(gpu, need).
  void reserve(GpuId gpu, const DecodeNeed& need);
  void release(GpuId gpu, const DecodeNeed& need);

  /// A GPU's own account of all that it holds: what is more than our reservations is of others.
  void report(GpuId gpu, std::uint32_t rows, std::uint64_t tokens, Time now);
  /// Halves what reports older than `stale` said of others: a GPU that no longer reports is not
  /// avoided for ever. True while any such account is left.
  bool age(Time now, Duration stale);

  // Questions. Each answers with a GPU that is open and has room for `need`, or with nothing.
  /// Of the fewest rows, then the fewest tokens, among those with at most `tokens_most` tokens
  /// before `need` comes.
  std::optional<GpuId> fewest_rows(const DecodeNeed& need, std::uint64_t tokens_most) const;
  /// Of the fewest tokens, then the fewest rows.
  std::optional<GpuId> fewest_tokens(const DecodeNeed& need) const;
  /// Of the most tokens, among those with at most one row more than the fewest.
  std::optional<GpuId> most_tokens_of_few_rows(const DecodeNeed& need) const;
  /// The next one after `last`, round the circle.
  std::optional<GpuId> next_after(GpuId last, const DecodeNeed& need) const;

  bool fits(GpuId gpu, const DecodeNeed& need) const;
  const DecodeGpu& at(GpuId gpu) const { return gpus_[gpu.value]; }
  /// All ids that were ever given are below this.
  std::uint32_t ids() const { return static_cast<std::uint32_t>(gpus_.size()); }
  /// Of the GPUs that are there and not draining.
  std::uint32_t size() const { return size_; }
  std::uint64_t tokens() const { return tokens_; }
  /// Reserved here, on all GPUs.
  std::uint64_t rows() const { return rows_; }
  std::uint64_t blocks_free() const { return blocks_free_; }
  std::uint64_t rows_free() const { return rows_free_; }
  /// Of the open GPUs.
  std::uint32_t largest_free() const { return largest_free_.best(); }

 private:
  using Fewest = WinnerTree<std::uint64_t, false>;

  template <class Change>
  void change(GpuId gpu, Change&& change);
  void enter(GpuId gpu);
  void leave(GpuId gpu);
  /// Where a search for a request begins among equals.
  std::uint32_t start_of(const DecodeNeed& need) const;

  std::vector<DecodeGpu> gpus_;
  std::vector<GpuId> unused_;
  // Of open GPUs.
  Fewest by_rows_;    ///< rows in the high bits, tokens in the low ones
  Fewest by_tokens_;  ///< the other way round
  WinnerTree<std::uint32_t, true> largest_free_;
  std::uint32_t size_ = 0;
  std::uint64_t tokens_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t blocks_free_ = 0;
  std::uint64_t rows_free_ = 0;
};

}  // namespace troupe
