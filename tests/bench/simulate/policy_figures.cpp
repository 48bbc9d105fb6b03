// Decode placement by count and tokens against count alone, and steps that keep their budget.
#include <cmath>
#include <numbers>

#include "actors/decode_balancer/decode_placer.hpp"
#include "actors/prefill_balancer/chunk_queue.hpp"
#include "runtime/cost/cost_fit.hpp"
#include "tests/bench/simulate/figures.hpp"

namespace troupe::bench {

namespace {

constexpr std::uint32_t kGpus = 256;
constexpr double kRows = 64;
/// KV is so dear that it is this share of a mean step.
constexpr double kKvShare = 0.4;

double gaussian(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) *
         std::cos(2 * std::numbers::pi * rng.uniform());
}

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

/// p99 over mean, less 1, of GPUs' own times before the barrier.
double spread(const std::vector<TraceLine>& trace, DecodeRule rule, int steps) {
  DecodeLimits limits;
  limits.hold = seconds(1'000'000);
  DecodePlacer placer(rule, limits);
  for (std::uint32_t i = 0; i < kGpus; ++i) placer.add_gpu(1u << 24, 10'000);
  double mean_tokens = 0;
  double mean_steps = 0;
  for (const TraceLine& line : trace) {
    const double row_steps = std::max(1.0, line.output / 3.3);
    mean_steps += row_steps / static_cast<double>(trace.size());
    mean_tokens += line.input * row_steps;
  }
  mean_tokens /= mean_steps * static_cast<double>(trace.size());  // of a row, over its life
  // Without KV a step of 64 rows at 3.25 drafts takes 12.9 ms (CALIB.md).
  constexpr double kBase = 12.9;
  const double token_ms = kKvShare / (1 - kKvShare) * kBase / (kRows * mean_tokens);
  Rng rng(1);
  const int warm = static_cast<int>(4 * mean_steps);
  std::vector<std::vector<RequestId>> ends(static_cast<std::size_t>(warm + steps) + 1);
  std::uint64_t next = 0;
  double arrival = 0;
  double sum = 0;
  for (int step = 0; step < warm + steps; ++step) {
    const Time now(step);
    for (const RequestId request : ends[static_cast<std::size_t>(step)]) placer.release(request);
    for (; arrival < step; arrival += rng.exponential(mean_steps / (kRows * kGpus))) {
      const TraceLine& line = trace[rng.below(trace.size())];
      const RequestId request(++next);
      (void)placer.submit(request, line.input, now, now + seconds(1'000));
      const auto end = static_cast<std::size_t>(step + std::max(1.0, line.output / 3.3));
      if (end < ends.size()) ends[end].push_back(request);
    }
    placer.round(now);
    if (step < warm) continue;
    std::vector<double> times;
    double mean = 0;
    for (std::uint32_t i = 0; i < kGpus; ++i) {
      const DecodeGpu& gpu = placer.pool().at(GpuId(i));
      const double verified = 4.25 * gpu.rows;
      times.push_back(9.804 + token_ms * static_cast<double>(gpu.tokens) + 0.00408 * verified +
                      0.00966 * std::max(0.0, verified - 272));
      mean += times.back() / kGpus;
    }
    sum += quantile(std::move(times), 0.99) / mean - 1;
  }
  return sum / steps;
}

}  // namespace

Figure spread_figure(const std::vector<TraceLine>& trace, bool quick) {
  const int steps = quick ? 200 : 1'500;
  const double balanced = spread(trace, DecodeRule::kBalanced, steps);
  const double rows = spread(trace, DecodeRule::kRows, steps);
  std::fprintf(stderr, "own times, p99/mean - 1: balanced %.4f, rows alone %.4f\n", balanced, rows);
  return {"simulate.decode_spread", "over count alone", 0.5, true, {balanced / rows}};
}

Figure budget_figure() {
  // What the GPU really does, which the scheduler does not know: it believes half the time a token
  // and no attention.
  const PrefillCurve truth{21.97e6, 10.838e3, 1e-2};
  PrefillCurve wrong;
  wrong.b = truth.b / 2;
  constexpr Duration kBudget = milliseconds(220);
  constexpr int kSteps = 3'000;
  CostFit fit(wrong);
  Rng rng(3);
  std::vector<double> errors;
  ChunkQueue queue(wrong, kBudget);
  std::uint64_t next = 0;
  for (int step = 0; step < kSteps; ++step) {
    while (queue.size() < 40) {
      const auto length = 1'024 + static_cast<std::uint32_t>(rng.exponential(60'000));
      queue.push(RequestId(++next), length / 2 / 128 * 128, length);
    }
    StepSample sample;
    double exact = truth.a;
    for (const auto& chunk : queue.next_step()) {
      sample.add(chunk.tokens, chunk.start);
      exact += truth.b * chunk.tokens + truth.g * chunk.tokens * (chunk.start + chunk.tokens / 2.0);
    }
    const double drift = step > kSteps / 2 ? 1.15 : 1;
    const double outlier = rng.chance(0.02) ? 1.5 + 4.5 * rng.uniform() : 1;
    sample.took =
        Duration(static_cast<std::int64_t>(exact * drift * (1 + 0.02 * gaussian(rng)) * outlier));
    // Outliers are the device's; what the scheduler answers for is the step that it filled.
    if (step >= 500) {
      errors.push_back(std::abs(exact * drift / static_cast<double>(kBudget.value) - 1));
    }
    fit.observe(sample);
    queue.set_curve(fit.curve());
  }
  return {"simulate.chunk_budget_p95",
          "|step/budget - 1|",
          0.10,
          true,
          {quantile(std::move(errors), 0.95)}};
}

}  // namespace troupe::bench
