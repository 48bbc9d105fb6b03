#include "runtime/simulation/timing_model.hpp"

#include <algorithm>
#include <cinttypes>

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

struct Work {
  PromptWork prompts;
  RowWork rows;
  std::int64_t sampled = 0;
};

Work work_of(const StepPlan& plan) {
  Work work;
  for (const StepRow& row : plan.rows) {
    if (row.count == 0) continue;
    if (row.sample) ++work.sampled;
    if (row.input_on_device) {
      work.rows.rows += 1;
      work.rows.tokens += row.count;
      work.rows.context += row.start + row.count;
    } else {
      work.prompts.add(row.count, row.start, row.sample);
    }
  }
  return work;
}

std::string layout_text(const TimingLayout& layout) {
  return "TP" + std::to_string(layout.tp) + " DP" + std::to_string(layout.dp) + " EP" +
         std::to_string(layout.ep) + " on " + std::to_string(layout.gpus) + " GPUs";
}

}  // namespace

TimingModel::TimingModel(std::shared_ptr<const TimingTable> table, HostTime host)
    : table_(std::move(table)), host_(host) {
  TROUPE_ASSERT(table_ != nullptr, "a timing model has a table");
  one_pass_ = table_->backend() != "sglang";
}

double TimingModel::counted(const TimedStep& step) {
  ++use_.points;
  if (step.beyond) {
    ++use_.extrapolated;
  } else if (step.mark == TimingMark::kMeasured) {
    ++use_.measured;
  } else {
    ++(step.mark == TimingMark::kDerived ? use_.derived : use_.extrapolated);
  }
  return step.ms;
}

TimedStep TimingModel::prompts(const PromptWork& work, double more_tokens) const {
  return table_->prefill(work.tokens * work.tokens / work.squares, work.tokens + more_tokens,
                         work.prefix / work.tokens);
}

double TimingModel::kernels_ms(const PromptWork& prompts, const RowWork& rows) {
  double ms = 0;
  TimedStep decoded;
  if (rows.rows > 0) {
    decoded = table_->decode(rows.tokens, rows.context / rows.rows);
    ms += counted(decoded);
  }
  if (prompts.tokens == 0) return ms;
  const TimedStep prefilled = this->prompts(prompts, 0);
  ms += counted(prefilled);
  if (rows.rows == 0) return ms;
  ++use_.mixed_steps;
  if (!one_pass_) return ms;
  const TimedStep all = this->prompts(prompts, rows.tokens);
  return all.ms - all.attention_ms + prefilled.attention_ms + decoded.attention_ms;
}

Duration TimingModel::step(const StepPlan& plan) {
  const Work work = work_of(plan);
  ++use_.steps;
  return from_seconds(kernels_ms(work.prompts, work.rows) / 1e3) + host_.step +
         host_.row * work.sampled;
}

double TimingModel::mixed_seconds(const PromptWork& prompts, const RowWork& rows) {
  return kernels_ms(prompts, rows) / 1e3 + host_.step.seconds() +
         host_.row.seconds() * (rows.rows + prompts.ends);
}

std::vector<std::string> TimingModel::describe() const {
  std::vector<std::string> lines = {
      "table " + table_->name() + ": " + table_->model() + ", " + table_->origin(),
      "prefill " + layout_text(table_->prefill_layout()) + "; decode " +
          layout_text(table_->decode_layout()),
      formatted("looked up %" PRIu64 " points: %" PRIu64 " measured, %" PRIu64 " derived, %" PRIu64
                " extrapolated",
                use_.points, use_.measured, use_.derived, use_.extrapolated),
      formatted("%" PRIu64 " of %" PRIu64 " steps mix prefill and decode: %s", use_.mixed_steps,
                use_.steps,
                one_pass_ ? "one pass over the weights" : "two passes, one after the other")};
  if (host_.step > Duration() || host_.row > Duration()) {
    lines.push_back(formatted("the engine's host: %.0f us a step and %.1f us a row, as given",
                              host_.step.seconds() * 1e6, host_.row.seconds() * 1e6));
  }
  return lines;
}

std::string TimingModel::extrapolation() const {
  if (use_.extrapolated == 0) return {};
  return formatted(
      "%.1f %% of %" PRIu64 " points lie beyond what was measured",
      100.0 * static_cast<double>(use_.extrapolated) / static_cast<double>(use_.points),
      use_.points);
}

std::string memory_warning(const TimingTable& table, double kv_tokens) {
  const TimingMemory& prefill = table.prefill_memory();
  const TimingMemory& decode = table.decode_memory();
  const double weights = std::max(prefill.weights, decode.weights);
  const double buffers = std::max(prefill.buffers, decode.buffers);
  constexpr double kContext = 131'072;  // where the table's KV is linear enough
  const double kv = table.kv_bytes(kContext) / kContext * kv_tokens;
  if (weights + buffers + kv <= table.gpu_memory()) return {};
  return formatted(
      "%.1f GiB of weights, %.1f of buffers and %.1f of KV (%.0f tokens) are more than "
      "the GPU's %.1f",
      weights / kGib, buffers / kGib, kv / kGib, kv_tokens, table.gpu_memory() / kGib);
}

}  // namespace troupe
