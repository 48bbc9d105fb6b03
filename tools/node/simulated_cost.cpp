#include "tools/node/simulated_cost.hpp"

namespace troupe {

CostModel cost_model_of(const config::SimulatedSection& simulated, const std::string& file) {
  const config::SimulatedSection fit;
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
  decode.shared = simulated.mixed_step_saving.seconds();
  const auto same = [&](auto... members) { return ((simulated.*members == fit.*members) && ...); };
  using Section = config::SimulatedSection;
  if (!same(&Section::prefill_base, &Section::prefill_per_token)) prefill.set_by = file;
  if (!same(&Section::decode_context)) decode.k_set_by = file;
  if (!same(&Section::decode_base, &Section::decode_per_token, &Section::decode_knee,
            &Section::decode_per_token_beyond_knee)) {
    decode.set_by = file;
  }
  return CostModel(std::move(prefill), std::move(decode));
}

}  // namespace troupe
