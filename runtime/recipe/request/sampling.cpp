#include "runtime/recipe/request/sampling.hpp"

#include <algorithm>
#include <limits>

#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {
namespace {

constexpr std::size_t kStopsMax = 16;        // SPEC 3.2
constexpr std::size_t kStopBytesMax = 1024;  // default mode: what a matcher holds back
constexpr std::uint64_t kTopLogprobsMax = 20;
constexpr float kThinkingTopP = 0.95F;  // V4 with tools; V4.1: at least

bool add_stop(std::string_view text, const std::string& param, std::vector<std::string>& stops,
              Issues& issues) {
  if (text.empty()) {
    return issues.rule("Invalid '" + param +
                           "': empty string. Expected a string with minimum length 1, but got an "
                           "empty string instead.",
                       param);
  }
  if (!issues.compat() && text.size() > kStopBytesMax) {
    return issues.rule("'" + param + "' is longer than " + std::to_string(kStopBytesMax) + " bytes",
                       param);
  }
  stops.emplace_back(text);
  return true;
}

}  // namespace

bool SamplingReader::real(const Field<Number>& field, std::string_view name, float min, float max,
                          std::string_view range, std::optional<float>& value) {
  if (!field.given()) return true;
  // The reference rounds to 32 bits before it compares: 2.00000001 is 2.
  const auto number = json_float_value(field.value.token);
  const bool open_at_min = range.starts_with('(');
  if (number <= max && (open_at_min ? number > min : number >= min)) {
    value = number;
    return true;
  }
  const std::string shown(name);
  return issues_.rule(
      "Invalid " + shown + " value, the valid range of " + shown + " is " + std::string(range),
      shown);
}

bool SamplingReader::temperature(const Field<Number>& field) {
  std::optional<float> value;
  if (!real(field, "temperature", 0, 2, "[0, 2]", value)) return false;
  if (thinking() && is_deepseek()) {
    value = 1.0F;
  } else if (is_deepseek() || compat()) {
    value = value.value_or(1.0F);
  }
  result_.temperature = value;
  return true;
}

bool SamplingReader::top_p(const Field<Number>& field) {
  std::optional<float> value;
  if (!real(field, "top_p", 0, 1, "(0, 1.0]", value)) return false;
  result_.top_p = value;
  if (!is_deepseek() && !compat()) return true;
  const bool v41 = request_.version == ModelVersion::kDeepseekV41;
  const float asked = value.value_or(1.0F);
  if (!thinking()) {
    result_.top_p = v41 && compat() ? 1.0F : asked;
  } else if (v41) {
    result_.top_p = std::max(asked, kThinkingTopP);
  } else {
    result_.top_p = request_.conversation.tools.empty() ? 1.0F : kThinkingTopP;
  }
  return true;
}

bool SamplingReader::tokens_max(const Field<Number>& field, std::string_view name, bool clamps) {
  if (!field.given()) return true;
  constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t asked = whole_number(field.value, kU32Max, options_.compat).value_or(kU32Max);
  const std::uint64_t bound = thinking() ? options_.thinking_tokens_max : options_.plain_tokens_max;
  const bool lowers = clamps || (!compat() && !options_.reject_tokens_over_room);
  if (asked == 0 && !compat()) {
    return issues_.rule("Invalid " + std::string(name) + " value, it must be at least 1",
                        std::string(name));
  }
  if (asked == 0 || (asked > bound && !lowers)) {
    // The reference names max_tokens whatever the field is called.
    return issues_.rule("Invalid max_tokens value, the valid range of max_tokens is [1, " +
                            std::to_string(bound) + "]",
                        std::string(name));
  }
  result_.tokens_max = static_cast<std::uint32_t>(std::min(asked, bound));
  return true;
}

bool SamplingReader::seed(const Field<Number>& field) {
  if (!field.given()) return true;
  constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();
  const std::string_view token = field.value.token;
  const auto value = json_unsigned(token);
  if (value && *value <= kSeedMax) {
    result_.seed = value;
    return true;
  }
  const auto negative = compat() ? std::nullopt : json_signed(token);
  if (negative) {
    result_.seed = static_cast<std::uint64_t>(*negative);
    return true;
  }
  return issues_.rule("Invalid seed value, the valid range of seed is [0, 2^63)", "seed");
}

bool SamplingReader::penalty(const Field<Number>& field, std::string_view name) {
  std::optional<float> value;
  if (!real(field, name, -2, 2, "[-2, 2]", value)) return false;
  if (compat() || value.value_or(0) == 0) return true;
  return issues_.unsupported(std::string(name), "this server applies no penalties");
}

bool SamplingReader::top_logprobs(const Field<Number>& field) {
  if (!field.given()) return true;
  const auto count = whole_number(field.value, kTopLogprobsMax, options_.compat);
  if (!count) {
    return issues_.rule("Invalid top_logprobs value, the valid range of top_logprobs is [0, 20].",
                        "top_logprobs");
  }
  result_.top_logprobs = static_cast<std::uint8_t>(*count);
  return true;
}

bool read_stops(const List<std::string_view>& list, std::string_view param,
                std::vector<std::string>& stops, Issues& issues) {
  if (list.size() > kStopsMax) {
    return issues.rule("Stop string array too long: " + std::to_string(list.size()),
                       std::string(param));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string element = std::string(param) + "[" + std::to_string(i) + "]";
    if (!add_stop(list[i].value, element, stops, issues)) return false;
  }
  return true;
}

bool read_stops(const StopField& field, std::string_view param, std::vector<std::string>& stops,
                Issues& issues) {
  if (!field.given()) return true;
  if (field.value.is_container) return read_stops(field.value.container, param, stops, issues);
  return add_stop(field.value.scalar, std::string(param), stops, issues);
}

}  // namespace troupe::recipe
