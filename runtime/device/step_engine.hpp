// What a CPU device runs: the model behind the streams.
//
// `forward` computes the rows of a plan and keeps their logits, `sample` turns the logits of the
// same plan into tokens. Rows are known by RowId across plans: an engine keeps each row's last
// token, so that a plan may say "the input is on the device".
//
// Threads: called from the device's stream threads, one call at a time. `cancelled` may turn true
// during a call; the engine looks at it between layers and returns kCancelled.
#pragma once

#include <atomic>

#include "runtime/device/step.hpp"

namespace troupe {

class StepEngine {
 public:
  virtual ~StepEngine() = default;
  virtual Status forward(const StepPlan& plan, const std::atomic<bool>& cancelled) = 0;
  virtual Result<StepResult> sample(const StepPlan& plan, const std::atomic<bool>& cancelled) = 0;
};

}  // namespace troupe
