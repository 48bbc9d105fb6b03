#include "runtime/model/sampling.hpp"

#include <limits>
#include <string>

#include "runtime/base/rng.hpp"

namespace troupe {
namespace {

constexpr double kTemperatureMax = 100;  // above, all tokens are equally likely anyway
constexpr std::int32_t kLogprobsMax = 20;
constexpr float kBiasMax = 100;

Error out_of_range(const char* name, const char* range) {
  return Error{Code::kInvalid, std::string(name) + " must be in " + range};
}

}  // namespace

Status validate(const SamplingParams& params, std::size_t vocabulary) {
  // Written so that NaN fails.
  if (!(params.temperature >= 0 && params.temperature <= kTemperatureMax)) {
    return out_of_range("temperature", "[0, 100]");
  }
  if (!(params.top_p > 0 && params.top_p <= 1)) return out_of_range("top_p", "(0, 1]");
  if (!(params.min_p >= 0 && params.min_p <= 1)) return out_of_range("min_p", "[0, 1]");
  if (params.logprobs < -1 || params.logprobs > kLogprobsMax) {
    return out_of_range("logprobs", "[-1, 20]");
  }
  for (const auto& [id, value] : params.bias) {
    if (id.value < 0 || static_cast<std::size_t>(id.value) >= vocabulary) {
      return Error{Code::kInvalid, "logit_bias names token " + std::to_string(id.value) +
                                       ", but the vocabulary has " + std::to_string(vocabulary)};
    }
    const bool banned = value == -std::numeric_limits<float>::infinity();
    if (!banned && !(value >= -kBiasMax && value <= kBiasMax)) {
      return out_of_range("logit_bias", "[-100, 100]");
    }
  }
  return ok_status();
}

double sampling_uniform(std::uint64_t seed, std::uint64_t position) {
  return static_cast<double>(splitmix64(mix64(seed, position)) >> 11) * 0x1.0p-53;
}

}  // namespace troupe
