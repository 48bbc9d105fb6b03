#include "tools/node/simulated_cost.hpp"

namespace troupe {

CostModel cost_model_of(const config::SimulatedSection& simulated) {
  PrefillConstants prefill;
  prefill.a = simulated.prefill_base.seconds();
  prefill.b = simulated.prefill_per_token.seconds();
  prefill.g = simulated.prefill_context_cost;
  DecodeConstants decode;
  decode.t0 = simulated.decode_base.seconds();
  decode.k = simulated.decode_context.seconds();
  decode.p1 = simulated.decode_per_token.seconds();
  decode.p2 = simulated.decode_per_token_beyond_knee.seconds();
  decode.n1 = static_cast<double>(simulated.decode_knee);
  return CostModel(prefill, decode);
}

}  // namespace troupe
