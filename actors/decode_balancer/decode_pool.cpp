#include "actors/decode_balancer/decode_pool.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {
constexpr std::uint32_t kBlockTokens = 128;
/// Bits of a key by tokens that hold rows.
constexpr std::uint32_t kRowBits = 20;
/// Bounds of what is believed of a GPU: keys and sums stay in their numbers.
constexpr std::uint32_t kRowsMost = (1u << kRowBits) - 1;
constexpr std::uint64_t kTokensMost = std::uint64_t{1} << 40;
}  // namespace

std::uint32_t DecodeGpu::blocks_free() const {
  const std::uint64_t used = blocks_used + (tokens_elsewhere + kBlockTokens - 1) / kBlockTokens;
  return used >= blocks ? 0 : blocks - static_cast<std::uint32_t>(used);
}

GpuId DecodePool::add(std::uint32_t blocks, std::uint32_t rows_most) {
  if (unused_.empty()) {
    unused_.emplace_back(static_cast<std::uint32_t>(gpus_.size()));
    gpus_.emplace_back();
  }
  const GpuId gpu = unused_.back();
  unused_.pop_back();
  change(gpu, [&](DecodeGpu& one) {
    one = DecodeGpu();
    one.blocks = blocks;
    one.rows_most = std::min(rows_most, kRowsMost);
    one.there = true;
  });
  return gpu;
}

void DecodePool::remove(GpuId gpu) {
  TROUPE_ASSERT(at(gpu).there, "only a GPU that is there leaves");
  TROUPE_ASSERT(at(gpu).rows == 0, "reservations end before their GPU leaves");
  change(gpu, [](DecodeGpu& one) { one = DecodeGpu(); });
  unused_.push_back(gpu);
}

void DecodePool::set_draining(GpuId gpu, bool draining) {
  change(gpu, [&](DecodeGpu& one) { one.draining = draining; });
}

void DecodePool::reserve(GpuId gpu, const DecodeNeed& need) {
  TROUPE_ASSERT(fits(gpu, need), "a reservation has room");
  ++rows_;
  change(gpu, [&](DecodeGpu& one) {
    ++one.rows;
    one.tokens += need.tokens;
    one.blocks_used += need.blocks;
  });
}

void DecodePool::release(GpuId gpu, const DecodeNeed& need) {
  --rows_;
  change(gpu, [&](DecodeGpu& one) {
    TROUPE_ASSERT(one.rows > 0 && one.tokens >= need.tokens && one.blocks_used >= need.blocks,
                  "what is released was reserved");
    --one.rows;
    one.tokens -= need.tokens;
    one.blocks_used -= need.blocks;
  });
}

void DecodePool::report(GpuId gpu, std::uint32_t rows, std::uint64_t tokens, Time now) {
  rows = std::min(rows, kRowsMost);
  tokens = std::min(tokens, kTokensMost);
  change(gpu, [&](DecodeGpu& one) {
    one.rows_elsewhere = rows > one.rows ? rows - one.rows : 0;
    one.tokens_elsewhere = tokens > one.tokens ? tokens - one.tokens : 0;
    one.reported_at = now;
  });
}

bool DecodePool::age(Time now, Duration stale) {
  bool left = false;
  for (std::uint32_t i = 0; i < gpus_.size(); ++i) {
    const DecodeGpu& gpu = gpus_[i];
    if (gpu.rows_elsewhere == 0 && gpu.tokens_elsewhere == 0) continue;
    if (now - gpu.reported_at >= stale) {
      change(GpuId(i), [](DecodeGpu& one) {
        one.rows_elsewhere /= 2;
        one.tokens_elsewhere /= 2;
      });
    }
    left = left || gpu.rows_elsewhere > 0 || gpu.tokens_elsewhere > 0;
  }
  return left;
}

template <class Change>
void DecodePool::change(GpuId gpu, Change&& change) {
  leave(gpu);
  change(gpus_[gpu.value]);
  enter(gpu);
}

void DecodePool::leave(GpuId gpu) {
  const DecodeGpu& one = gpus_[gpu.value];
  if (!one.there || one.draining) return;
  --size_;
  tokens_ -= one.all_tokens();
  blocks_free_ -= one.blocks_free();
  if (!one.open()) return;
  rows_free_ -= one.rows_most - one.all_rows();
  // The node is kept, so that a change of load allocates nothing.
  spare_.push_back(by_rows_.extract(key_of(one, gpu)));
}

DecodePool::Key DecodePool::key_of(const DecodeGpu& one, GpuId gpu) {
  return {one.all_rows(), one.all_tokens(), gpu.value};
}

void DecodePool::enter(GpuId gpu) {
  const DecodeGpu& one = gpus_[gpu.value];
  const bool open = one.open();
  largest_free_.set(gpu.value, open ? one.blocks_free() : 0);
  by_tokens_.set(gpu.value, open ? one.all_tokens() << kRowBits | one.all_rows()
                                 : WinnerTree<std::uint64_t, false>::kWorst);
  if (!one.there || one.draining) return;
  ++size_;
  tokens_ += one.all_tokens();
  blocks_free_ += one.blocks_free();
  if (!open) return;
  rows_free_ += one.rows_most - one.all_rows();
  if (spare_.empty()) {
    by_rows_.insert(key_of(one, gpu));
    return;
  }
  spare_.back().value() = key_of(one, gpu);
  by_rows_.insert(std::move(spare_.back()));
  spare_.pop_back();
}

bool DecodePool::fits(GpuId gpu, const DecodeNeed& need) const {
  const DecodeGpu& one = gpus_[gpu.value];
  return one.open() && one.blocks_free() >= need.blocks;
}

GpuId DecodePool::of_equals(const Key& found, const DecodeNeed& need) const {
  const auto start = static_cast<std::uint32_t>(splitmix64(need.hash) % gpus_.size());
  const auto other = by_rows_.lower_bound({found.rows, found.tokens, start});
  const bool equal = other != by_rows_.end() && other->rows == found.rows &&
                     other->tokens == found.tokens && fits(GpuId(other->gpu), need);
  return GpuId(equal ? other->gpu : found.gpu);
}

std::optional<GpuId> DecodePool::fewest_rows(const DecodeNeed& need,
                                             std::uint64_t tokens_most) const {
  if (need.blocks > largest_free()) return std::nullopt;
  for (auto at = by_rows_.begin(); at != by_rows_.end();) {
    const std::uint64_t rows = at->rows;
    for (; at != by_rows_.end() && at->rows == rows && at->tokens <= tokens_most; ++at) {
      if (fits(GpuId(at->gpu), need)) return of_equals(*at, need);
    }
    if (at != by_rows_.end() && at->rows == rows) at = by_rows_.lower_bound({rows + 1, 0, 0});
  }
  return std::nullopt;
}

std::optional<GpuId> DecodePool::fewest_tokens(const DecodeNeed& need) const {
  if (by_rows_.empty() || need.blocks > largest_free()) return std::nullopt;
  GpuId best(by_tokens_.holder());
  if (!fits(best, need)) {
    // Only where memory is unequal does the GPU of the fewest tokens not have the most room.
    const auto load = [&](GpuId gpu) {
      return std::pair(at(gpu).all_tokens(), at(gpu).all_rows());
    };
    for (const Key& key : by_rows_) {
      const GpuId gpu(key.gpu);
      if (fits(gpu, need) && (!fits(best, need) || load(gpu) < load(best))) best = gpu;
    }
    if (!fits(best, need)) return std::nullopt;
  }
  return of_equals(key_of(at(best), best), need);
}

std::optional<GpuId> DecodePool::most_tokens_of_few_rows(const DecodeNeed& need) const {
  if (by_rows_.empty() || need.blocks > largest_free()) return std::nullopt;
  const std::uint64_t fewest = by_rows_.begin()->rows;
  std::optional<GpuId> most;
  for (const std::uint64_t rows : {fewest, fewest + 1}) {
    for (auto at = by_rows_.lower_bound({rows + 1, 0, 0}); at != by_rows_.begin();) {
      --at;
      if (at->rows != rows) break;
      if (!fits(GpuId(at->gpu), need)) continue;
      if (!most || at->tokens > this->at(*most).all_tokens()) most = GpuId(at->gpu);
      break;
    }
  }
  return most;
}

std::optional<GpuId> DecodePool::next_after(GpuId last, const DecodeNeed& need) const {
  if (need.blocks > largest_free()) return std::nullopt;
  const auto count = static_cast<std::uint32_t>(gpus_.size());
  for (std::uint32_t i = 1; i <= count; ++i) {
    const GpuId gpu((last.value + i) % count);
    if (fits(gpu, need)) return gpu;
  }
  return std::nullopt;
}

}  // namespace troupe
