#include "tools/simulate/group_timing.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/simulation/formatted.hpp"
#include "tools/simulate/timing_path.hpp"

namespace troupe {

namespace {

constexpr const char* kFormulaV41 = "formula:v41";
constexpr double kContextUnit = 131'072;  ///< of decode_k_ms
const char* const kOfTheFormula[] = {"prefill_a_ms", "prefill_b_us", "prefill_g",
                                     "decode_t0_ms", "decode_k_ms",  "decode_p1_us",
                                     "decode_p2_us", "decode_knee",  "decode_extra_ms"};

/// The line through two points of one prompt, and what a prefix adds.
void take_prefill(ClusterPlan& plan, const TimingTable& table) {
  constexpr double kFew = 1'024, kMany = 8'192, kPrefix = 65'536;
  const std::string source =
      formatted("line through %.0f and %.0f tokens of the table: ", kFew, kMany) +
      "what balancers begin with";
  const double few = table.prefill(1, kFew, 0).ms, many = table.prefill(1, kMany, 0).ms;
  const double slope = std::max(0.0, (many - few) / (kMany - kFew));
  const double behind = table.prefill(1, kFew, kPrefix).ms;
  plan.set_constant("prefill_a_ms", std::max(0.0, few - slope * kFew), source);
  plan.set_constant("prefill_b_us", slope * 1e3, source);
  plan.set_constant("prefill_g", std::max(0.0, (behind - few) / (kFew * kPrefix) * 1e-3), source);
}

/// What the choice of drafts reckons with.
void take_decode(ClusterPlan& plan, const TimingTable& table) {
  constexpr double kRows = 64, kKnee = 256, kLarge = 512, kShort = 1'024, kLong = 32'768;
  const std::string source = "lines through the table's points: what the choice of drafts uses";
  const auto ms = [&](double tokens, double context) { return table.decode(tokens, context).ms; };
  const auto slope = [&](double from, double to) {
    return std::max(0.0, (ms(to, kShort) - ms(from, kShort)) / (to - from));
  };
  const double row = std::max(0.0, (ms(kRows, kLong) - ms(kRows, kShort)) / kRows);
  plan.set_constant("decode_t0_ms", ms(1, kShort), source);
  plan.set_constant("decode_k_ms", row / (kLong - kShort) * kContextUnit, source);
  plan.set_constant("decode_p1_us", slope(1, kKnee) * 1e3, source);
  plan.set_constant("decode_p2_us", slope(kKnee, kLarge) * 1e3, source);
  plan.set_constant("decode_knee", kKnee, source);
}

std::string layout_warning(const char* pool, const TimingLayout& layout, std::uint32_t ranks) {
  const std::string of_table = formatted("TP%u DP%u EP%u", layout.tp, layout.dp, layout.ep);
  if (layout.dp != ranks) {
    return formatted("the table's %s engine is %s, the plan's has %u ranks", pool, of_table.c_str(),
                     ranks);
  }
  if (layout.tp == 1) return {};
  return formatted("a rank of the table's %s engine (%s) is %u GPUs: counts of GPUs are of ranks",
                   pool, of_table.c_str(), layout.tp);
}

}  // namespace

Result<StepTiming> step_timing(const std::string& source, const HostTime& host) {
  StepTiming timing;
  if (source.empty() || source.starts_with("formula:")) {
    if (!source.empty() && source != kFormulaV41) {
      return Error{Code::kInvalid, "--timing: there is no " + source + "; " + kFormulaV41 +
                                       " or the file of a table"};
    }
    if (host.step > Duration() || host.row > Duration()) {
      return Error{Code::kInvalid,
                   "--host-step-us and --host-row-us: the formula contains the host; give a table "
                   "with --timing"};
    }
    return timing;
  }
  TROUPE_TRY_ASSIGN(const std::string path, timing_path(source));
  auto table = TimingTable::load(path);
  if (!table.ok()) return Error{table.error().code, "--timing: " + table.error().message};
  timing.table = std::make_shared<const TimingTable>(std::move(table).value());
  timing.model = std::make_shared<TimingModel>(timing.table, host);
  return timing;
}

Status take_table(ClusterPlan& plan, const TimingTable& table) {
  for (const PlanConstant& one : plan.constants) {
    const bool formula = std::find(std::begin(kOfTheFormula), std::end(kOfTheFormula), one.name) !=
                         std::end(kOfTheFormula);
    if (!one.given || !formula) continue;
    return Error{Code::kInvalid, "constants." + one.name +
                                     " belongs to the formula, but steps are "
                                     "timed by the table " +
                                     table.name() +
                                     "; a run has one source: leave one of both out"};
  }
  take_prefill(plan, table);
  take_decode(plan, table);
  const auto kv = std::find_if(plan.constants.begin(), plan.constants.end(),
                               [](const auto& one) { return one.name == "kv_token_bytes"; });
  if (!kv->given) {
    plan.set_constant("kv_token_bytes", table.kv_bytes(kContextUnit) / kContextUnit,
                      "of the table, at 131,072 tokens");
  }
  return ok_status();
}

std::vector<std::string> table_warnings(const ClusterPlan& plan, const TimingTable& table) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  std::vector<std::string> warnings;
  const auto need = [&](const char* pool, const TimingMemory& memory, double kv) {
    const double all = memory.weights + memory.buffers + kv;
    if (all <= table.gpu_memory()) return;
    warnings.push_back(formatted(
        "%s: %.1f GiB of weights, %.1f of buffers and %.1f of KV are more than the GPU's %.1f",
        pool, memory.weights / kGib, memory.buffers / kGib, kv / kGib, table.gpu_memory() / kGib));
  };
  need("prefill", table.prefill_memory(), 0);
  need("decode", table.decode_memory(), plan.decode.kv_gb * 1e9);
  for (const std::string& warning :
       {layout_warning("prefill", table.prefill_layout(), plan.prefill.ranks),
        layout_warning("decode", table.decode_layout(), plan.decode.ranks)}) {
    if (!warning.empty()) warnings.push_back(warning);
  }
  return warnings;
}

}  // namespace troupe
