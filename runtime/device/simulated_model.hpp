// The simulated GPU: what a step costs, and which tokens "come out".
//
// The cost of a step is a function of its plan (runtime/simulation/cost_model.hpp has the fitted
// one). How many tokens a request generates is known here and to whoever made the load, so that no
// core can read it: it came sealed with the request, or is a function of the seed and its id.
//
// Invariant: the same seed, request and position give the same token, whatever the batch.
#pragma once

#include <functional>
#include <vector>

#include "runtime/device/modelled_device.hpp"

namespace troupe {

struct SimulatedModelOptions {
  std::uint64_t seed = 1;
  std::function<Duration(const StepPlan&)> step_cost;
  /// Output lengths of requests that bring none: uniform in [output_mean − output_spread,
  /// output_mean + output_spread], ≥ 1.
  std::uint32_t output_mean = 128;
  std::uint32_t output_spread = 0;
  double copy_bytes_per_second = 50e9;  ///< one 400G NIC (CALIB.md, P→D transfer)
};

class SimulatedModel final : public StepModel {
 public:
  explicit SimulatedModel(SimulatedModelOptions options) : options_(std::move(options)) {}

  Outcome forward(const StepPlan& plan, Time start) override;
  Outcome sample(const StepPlan& plan, Time start) override;
  Duration copy(std::size_t bytes) override;

  /// Drawn, for a request that brings none.
  std::uint32_t output_length(RequestId request) const;

 private:
  SimulatedModelOptions options_;
  std::vector<std::uint32_t> generated_;  ///< by RowId: tokens of the row's request so far
};

}  // namespace troupe
