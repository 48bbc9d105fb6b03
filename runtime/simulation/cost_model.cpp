#include "runtime/simulation/cost_model.hpp"

#include <algorithm>

#include "runtime/simulation/formatted.hpp"

namespace troupe {

namespace {

constexpr double kContextUnit = 131072;

struct Work {
  double prefill_tokens = 0;
  double prefill_pairs = 0;  ///< Σ q (c + q / 2)
  double decode_tokens = 0;
  double decode_context = 0;
  std::uint32_t longest = 0;
};

Work work_of(const StepPlan& plan) {
  Work work;
  for (const StepRow& row : plan.rows) {
    const double q = row.count, c = row.start;
    work.longest = std::max(work.longest, row.start + row.count);
    if (row.input_on_device) {
      work.decode_tokens += q;
      work.decode_context += c + q;
    } else {
      work.prefill_tokens += q;
      work.prefill_pairs += q * (c + q / 2);
    }
  }
  return work;
}

}  // namespace

double CostModel::prefill_seconds(double tokens, double pairs) {
  const bool fits = tokens >= prefill_.q_least && tokens <= prefill_.q_most;
  ++use_.prefills;
  if (prefill_.set_by.empty() && !fits) ++use_.prefill_outside;
  return prefill_.a + prefill_.b * tokens + prefill_.g * pairs;
}

double CostModel::decode_seconds(double rows, double tokens, double context) {
  const bool fits = rows >= decode_.batch_least && rows <= decode_.batch_most;
  ++use_.decodes;
  if (decode_.set_by.empty() && !fits) ++use_.decode_batch_outside;
  return decode_.t0 + decode_.k * context / kContextUnit + decode_.p1 * tokens +
         (decode_.p2 - decode_.p1) * std::max(0.0, tokens - decode_.n1);
}

void CostModel::saw_context(std::uint64_t longest) {
  ++use_.contexts;
  if (decode_.k_set_by.empty() && longest > decode_.context_most) ++use_.context_outside;
}

Duration CostModel::step(const StepPlan& plan) {
  const Work work = work_of(plan);
  saw_step();
  double seconds = 0;
  if (work.prefill_tokens > 0) {
    seconds += prefill_seconds(work.prefill_tokens, work.prefill_pairs);
  }
  if (work.decode_tokens > 0) {
    // Without drafts each row has one token.
    seconds += decode_seconds(work.decode_tokens, work.decode_tokens, work.decode_context);
    if (work.prefill_tokens > 0) {
      seconds = std::max(0.0, seconds - decode_.shared);
      if (decode_.shared == 0) ++use_.mixed_steps;
    }
  }
  saw_context(work.longest);
  return from_seconds(seconds);
}

std::vector<std::string> CostModel::describe() const {
  const auto source = [](const std::string& set_by, const std::string& fit) {
    return set_by.empty() ? fit : "set by " + set_by;
  };
  const std::string prefill_fit =
      formatted("fit to a published EP4/DP4 prefill engine; %u to %u tokens a step",
                prefill_.q_least, prefill_.q_most);
  const std::string decode_fit =
      formatted("fit to a published EP64/DP64 decode engine; %u to %u rows", decode_.batch_least,
                decode_.batch_most);
  const std::string context_fit =
      formatted("assumed 896 B/token at 8 TB/s; only that context is published, at most %u",
                decode_.context_most);
  const std::string mixed =
      decode_.shared > 0 ? formatted("a step with prefill and decode saves %.3f ms of their sum; ",
                                     decode_.shared * 1e3) +
                               source(decode_.set_by, "")
                         : "a step with prefill and decode costs the sum of both (nothing "
                           "published on sharing)";
  return {
      formatted("prefill a = %.3f ms/step, b = %.3f us/token; ", prefill_.a * 1e3,
                prefill_.b * 1e6) +
          source(prefill_.set_by, prefill_fit),
      formatted("prefill g = %.1e s/token^2; a parameter: the source does not determine it",
                prefill_.g),
      formatted("decode t0 = %.3f ms/step, p1 = %.5f, p2 = %.5f ms/token, knee %.0f tokens; ",
                decode_.t0 * 1e3, decode_.p1 * 1e3, decode_.p2 * 1e3, decode_.n1) +
          source(decode_.set_by, decode_fit),
      formatted("decode k = %.5f ms per row of 131,072 tokens; ", decode_.k * 1e3) +
          source(decode_.k_set_by, context_fit),
      mixed,
  };
}

std::string CostModel::extrapolation() const {
  std::string text;
  auto add = [&](std::uint64_t part, std::uint64_t all, const char* what) {
    if (part == 0) return;
    if (!text.empty()) text += ", ";
    text += formatted("%.1f %% of ", 100.0 * static_cast<double>(part) / static_cast<double>(all)) +
            what;
  };
  add(use_.prefill_outside, use_.prefills, "prefill chunks outside of the fitted sizes");
  add(use_.decode_batch_outside, use_.decodes, "decode batches outside of the fitted sizes");
  add(use_.context_outside, use_.contexts, "contexts longer than published");
  add(use_.mixed_steps, use_.steps, "steps with prefill and decode added");
  return text;
}

}  // namespace troupe
