#include "tools/node/measured_engine.hpp"

#include <cstdio>
#include <fstream>

namespace troupe {

namespace {

constexpr double kContextUnit = 131'072;  // of simulated.decode_context

EngineStep step_of(const StepPlan& plan) {
  EngineStep step;
  for (const StepRow& row : plan.rows) {
    const double q = row.count, c = row.start;
    if (row.input_on_device) {
      ++step.rows;
      step.context += c + q;
    } else {
      step.prompt_tokens += row.count;
      step.attention += q * (c + q / 2);
    }
  }
  return step;
}

std::string ns(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0fns", seconds * 1e9);
  return text;
}

}  // namespace

Result<std::string> StepRecord::text() const {
  const std::lock_guard lock(mutex_);
  TROUPE_TRY_ASSIGN(const StepConstants fit, fit_.fit());
  char pair[64], about[160];
  std::snprintf(pair, sizeof pair, "%.6g", fit.per_pair);
  std::snprintf(about, sizeof about,
                "# What %llu steps of this engine cost; half of them within %.1f %% of it.\n",
                static_cast<unsigned long long>(fit_.seen()), fit_.median_error(fit) * 100);
  return about + std::string("simulated:\n  prefill_base: ") + ns(fit.prefill_base) +
         "\n  prefill_per_token: " + ns(fit.per_prompt_token) +
         "\n  prefill_context_cost: " + pair + "\n  decode_base: " + ns(fit.decode_base) +
         "\n  decode_context: " + ns(fit.per_context_token * kContextUnit) +
         "\n  decode_per_token: " + ns(fit.per_row) +
         "\n  decode_per_token_beyond_knee: " + ns(fit.per_row) +
         "\n  mixed_step_saving: " + ns(fit.shared) + "\n";
}

Status StepRecord::save(const std::string& path) const {
  TROUPE_TRY_ASSIGN(const std::string text, this->text());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file.fail()) return Error{Code::kIo, path + ": cannot write it"};
  return ok_status();
}

Status MeasuredEngine::forward(const StepPlan& plan, const std::atomic<bool>& cancelled) {
  const auto now = Clock::now();
  const auto pause = std::chrono::duration_cast<std::chrono::nanoseconds>(now - ended_).count();
  begun_ = pause < kPauseMost.value ? ended_ : now;
  number_ = plan.step;
  step_ = step_of(plan);
  const Status status = engine_->forward(plan, cancelled);
  under_way_ = status.ok();
  return status;
}

Result<StepResult> MeasuredEngine::sample(const StepPlan& plan,
                                          const std::atomic<bool>& cancelled) {
  auto result = engine_->sample(plan, cancelled);
  const bool whole = under_way_ && plan.step == number_ && result.ok();
  under_way_ = false;
  ended_ = Clock::now();
  if (!whole) return result;
  step_.took =
      Duration(std::chrono::duration_cast<std::chrono::nanoseconds>(ended_ - begun_).count());
  record_->add(step_);
  return result;
}

}  // namespace troupe
