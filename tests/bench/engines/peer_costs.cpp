#include "tests/bench/engines/peer_costs.hpp"

#include <algorithm>

namespace troupe::bench {

double ReplayCost::rows_seconds(const RowWork& work) {
  const double share = std::min(1.0, work.context / kv_tokens_);
  return std::max(1.0, 5.74 + 54.01 * share - 25.74 * share * share) * 1e-3;
}

double ReplayCost::mixed_seconds(const PromptWork& prompts, const RowWork& rows) {
  const double q = prompts.tokens;
  const double prefill = (4.209989e-7 * q * q + 1.518344e-2 * q + 16.50142) * 1e-3;
  // A prompt that ends gets its first token from the pass of rows.
  const RowWork all{rows.rows + prompts.ends, 0, rows.context + prompts.end_context};
  return all.rows > 0 ? prefill + rows_seconds(all) : prefill;
}

}  // namespace troupe::bench
