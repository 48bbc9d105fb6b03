#include "runtime/simulation/timing_model.hpp"

#include <algorithm>
#include <cinttypes>

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

struct Rows {
  double prefill_tokens = 0;
  double prefill_squares = 0;  ///< Σq²
  double prefill_prefix = 0;   ///< Σqc
  double decode_tokens = 0;
  double decode_context = 0;
  double decode_rows = 0;
  std::int64_t sampled = 0;
};

Rows rows_of(const StepPlan& plan) {
  Rows rows;
  for (const StepRow& row : plan.rows) {
    if (row.count == 0) continue;
    if (row.sample) ++rows.sampled;
    const double q = row.count, c = row.start;
    if (row.input_on_device) {
      rows.decode_tokens += q;
      rows.decode_context += c + q;
      rows.decode_rows += 1;
    } else {
      rows.prefill_tokens += q;
      rows.prefill_squares += q * q;
      rows.prefill_prefix += q * c;
    }
  }
  return rows;
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

Duration TimingModel::step(const StepPlan& plan) {
  const Rows rows = rows_of(plan);
  ++use_.steps;
  double ms = 0;
  TimedStep decoded;
  if (rows.decode_tokens > 0) {
    decoded = table_->decode(rows.decode_tokens, rows.decode_context / rows.decode_rows);
    ms += counted(decoded);
  }
  if (rows.prefill_tokens > 0) {
    const double q = rows.prefill_tokens, n = q * q / rows.prefill_squares,
                 c = rows.prefill_prefix / q;
    const TimedStep prompts = table_->prefill(n, q, c);
    ms += counted(prompts);
    if (rows.decode_tokens > 0) {
      ++use_.mixed_steps;
      if (one_pass_) {
        const TimedStep all = table_->prefill(n, q + rows.decode_tokens, c);
        ms = all.ms - all.attention_ms + prompts.attention_ms + decoded.attention_ms;
      }
    }
  }
  return from_seconds(ms / 1e3) + host_.step + host_.row * rows.sampled;
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
