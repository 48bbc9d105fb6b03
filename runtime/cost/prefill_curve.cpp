#include "runtime/cost/prefill_curve.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/base/assert.hpp"

namespace troupe {

Duration PrefillCurve::work(std::uint32_t chunk, std::uint64_t context) const {
  const double q = chunk;
  const double ns = b * q + g * q * (static_cast<double>(context) + q / 2);
  return Duration(static_cast<std::int64_t>(std::ceil(ns)));
}

Duration PrefillCurve::step(std::uint32_t chunk, std::uint64_t context) const {
  return Duration(static_cast<std::int64_t>(std::ceil(a))) + work(chunk, context);
}

std::uint32_t largest_chunk(const PrefillCurve& curve, Duration left, std::uint64_t context) {
  if (left <= Duration()) return 0;
  constexpr double kMost = 1u << 30;
  const double budget = static_cast<double>(left.value);
  // The root of g q²/2 + (b + g c) q = budget, in the form that stays exact as g goes to 0.
  const double slope = curve.b + curve.g * static_cast<double>(context);
  const double root = slope + std::sqrt(slope * slope + 2 * curve.g * budget);
  const double exact = root > 0 ? 2 * budget / root : kMost;
  auto chunk = static_cast<std::uint32_t>(std::min(exact, kMost));
  while (chunk > 0 && curve.work(chunk, context) > left) --chunk;
  while (chunk < kMost && curve.work(chunk + 1, context) <= left) ++chunk;
  return chunk;
}

StepFill::StepFill(const PrefillCurve& curve, Duration budget, const ChunkLimits& limits)
    : curve_(curve),
      limits_(limits),
      base_(static_cast<std::int64_t>(std::ceil(curve.a))),
      left_(budget - base_) {
  TROUPE_ASSERT(limits.granule > 0 && limits.tokens >= limits.granule, "limits hold a granule");
}

std::uint32_t StepFill::take(std::uint64_t context, std::uint32_t rest) {
  TROUPE_ASSERT(rest > 0, "a request that waits has tokens to compute");
  const std::uint32_t room = std::min(rest, limits_.tokens - tokens_);
  std::uint32_t chunk = std::min(room, largest_chunk(curve_, left_, context));
  if (chunk < rest) chunk -= chunk % limits_.granule;
  if (chunk == 0 && tokens_ == 0) chunk = std::min(room, limits_.granule);
  if (chunk == 0) return 0;
  const Duration work = curve_.work(chunk, context);
  used_ = used_ + work;
  left_ = left_ - work;
  tokens_ += chunk;
  return chunk;
}

}  // namespace troupe
