#include "actors/decode_balancer/decode_pool.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {
constexpr std::uint32_t kBlockTokens = 128;
/// Bits of a key that hold rows; the others hold tokens.
constexpr std::uint32_t kRowBits = 20;
constexpr std::uint32_t kTokenBits = 64 - kRowBits;
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
  if (one.open()) rows_free_ -= one.rows_most - one.all_rows();
}

void DecodePool::enter(GpuId gpu) {
  const DecodeGpu& one = gpus_[gpu.value];
  const bool open = one.open();
  largest_free_.set(gpu.value, open ? one.blocks_free() : 0);
  by_rows_.set(gpu.value, open ? std::uint64_t{one.all_rows()} << kTokenBits | one.all_tokens()
                               : Fewest::kWorst);
  by_tokens_.set(gpu.value, open ? one.all_tokens() << kRowBits | one.all_rows() : Fewest::kWorst);
  if (!one.there || one.draining) return;
  ++size_;
  tokens_ += one.all_tokens();
  blocks_free_ += one.blocks_free();
  if (open) rows_free_ += one.rows_most - one.all_rows();
}

bool DecodePool::fits(GpuId gpu, const DecodeNeed& need) const {
  const DecodeGpu& one = gpus_[gpu.value];
  return one.open() && one.blocks_free() >= need.blocks;
}

std::uint32_t DecodePool::start_of(const DecodeNeed& need) const {
  return static_cast<std::uint32_t>(splitmix64(need.hash) % gpus_.size());
}

std::optional<GpuId> DecodePool::fewest_rows(const DecodeNeed& need,
                                             std::uint64_t tokens_most) const {
  if (by_rows_.best() == Fewest::kWorst || need.blocks > largest_free()) return std::nullopt;
  if (by_tokens_.best() >> kRowBits > tokens_most) return std::nullopt;
  const auto passes = [&](std::uint32_t gpu) {
    return gpus_[gpu].all_tokens() <= tokens_most && fits(GpuId(gpu), need);
  };
  const std::uint32_t first = by_rows_.holder(start_of(need));
  if (passes(first)) return GpuId(first);
  const auto found = by_rows_.best_of(passes);
  return found ? std::optional(GpuId(*found)) : std::nullopt;
}

std::optional<GpuId> DecodePool::fewest_tokens(const DecodeNeed& need) const {
  if (by_tokens_.best() == Fewest::kWorst || need.blocks > largest_free()) return std::nullopt;
  const auto passes = [&](std::uint32_t gpu) { return fits(GpuId(gpu), need); };
  const std::uint32_t first = by_tokens_.holder(start_of(need));
  if (passes(first)) return GpuId(first);
  // Only where memory is unequal does the GPU of the fewest tokens not have the most room.
  const auto found = by_tokens_.best_of(passes);
  return found ? std::optional(GpuId(*found)) : std::nullopt;
}

std::optional<GpuId> DecodePool::most_tokens_of_few_rows(const DecodeNeed& need) const {
  if (by_rows_.best() == Fewest::kWorst || need.blocks > largest_free()) return std::nullopt;
  const std::uint64_t fewest = by_rows_.best() >> kTokenBits;
  std::optional<GpuId> most;
  for (std::uint32_t i = 0; i < ids(); ++i) {
    const DecodeGpu& one = gpus_[i];
    if (!fits(GpuId(i), need) || one.all_rows() > fewest + 1) continue;
    if (most && one.all_tokens() < at(*most).all_tokens()) continue;
    const bool equal = most && one.all_tokens() == at(*most).all_tokens();
    if (!equal || one.all_rows() <= at(*most).all_rows()) most = GpuId(i);
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
