#include "runtime/device/simulated_model.hpp"

#include <algorithm>

#include "runtime/base/rng.hpp"

namespace troupe {

std::uint32_t SimulatedModel::output_length(RequestId request) const {
  if (options_.output_spread == 0) return std::max(1u, options_.output_mean);
  Rng rng(mix64(options_.seed, request.value));
  const std::uint32_t low = options_.output_mean > options_.output_spread
                                ? options_.output_mean - options_.output_spread
                                : 1;
  return low + static_cast<std::uint32_t>(rng.below(2ull * options_.output_spread + 1));
}

StepModel::Outcome SimulatedModel::forward(const StepPlan& plan, Time) {
  for (const auto& row : plan.rows) {
    if (row.row.value >= generated_.size()) generated_.resize(row.row.value + 1);
    if (row.fresh) generated_[row.row.value] = row.generated;
  }
  StepResult result;
  result.step = plan.step;
  return {options_.step_cost(plan), std::move(result)};
}

StepModel::Outcome SimulatedModel::sample(const StepPlan& plan, Time) {
  StepResult result;
  result.step = plan.step;
  for (const auto& row : plan.rows) {
    if (!row.sample) continue;
    RowResult out;
    out.row = row.row;
    out.request = row.request;
    std::uint32_t& generated = generated_[row.row.value];
    const std::uint32_t length = row.work.output > 0 ? row.work.output : output_length(row.request);
    if (generated < length) {
      const std::uint64_t hash = mix64(mix64(options_.seed, row.request.value), generated);
      out.tokens.emplace_back(static_cast<std::int32_t>(hash % 100'000));
      ++generated;
    }
    if (generated >= length) out.end = RowEnd::kStop;
    result.rows.push_back(std::move(out));
  }
  return {Duration(), std::move(result)};
}

Duration SimulatedModel::copy(std::size_t bytes) {
  return from_seconds(static_cast<double>(bytes) / options_.copy_bytes_per_second);
}

}  // namespace troupe
