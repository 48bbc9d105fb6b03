#include "runtime/recipe/request/extensions.hpp"

#include <charconv>
#include <limits>

#include "runtime/recipe/request/shape_check.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

constexpr std::size_t kBiasMax = 1024;
constexpr float kBiasMagnitudeMax = 100;
constexpr std::uint64_t kTopKMax = 1 << 30;

bool read_bias(std::string_view key, JsonTape::Index value, Conversion& conversion) {
  std::int32_t id = -1;
  const char* end = key.data() + key.size();
  const auto read = std::from_chars(key.data(), end, id);
  const bool is_id = read.ec == std::errc() && read.ptr == end && id >= 0;
  const JsonTape& tape = conversion.tape;
  const bool number = tape.kind(value) == JsonKind::kNumber;
  const auto bias = number ? json_float_value(tape.text(value)) : 0.0F;
  if (!is_id || !number || !(bias >= -kBiasMagnitudeMax && bias <= kBiasMagnitudeMax)) {
    return conversion.issues.rule(
        "'logit_bias' wants token ids and numbers from -100 to 100, not '" + excerpt(key, 40) + "'",
        "logit_bias");
  }
  conversion.request.sampling.logit_bias.emplace_back(TokenId(id), bias);
  return true;
}

/// Values that ask for what is done anyway.
bool says_nothing(std::string_view name, JsonTape::Index value, const JsonTape& tape) {
  std::string text;
  tape.print(value, kCompactJson, text);
  if (name == "best_of") return text == "1";
  if (name == "repetition_penalty") return text == "1" || text == "1.0";
  if (name == "suffix") return text == "\"\"";
  return text == "0" || text == "false" || text == "[]";
}

}  // namespace

bool read_choices(const Field<Number>& n, Conversion& conversion) {
  if (!n.given()) return true;
  const std::uint64_t most = conversion.compat() ? 1 : kChoicesMax;
  const auto count = whole_number(n.value, most, conversion.options.compat);
  if (count.value_or(0) == 0) {
    return conversion.issues.rule(conversion.compat()
                                      ? "Invalid n value (currently only n = 1 is supported)"
                                      : "Invalid n value, the valid range of n is [1, 128]",
                                  "n");
  }
  conversion.request.choices = static_cast<std::uint32_t>(*count);
  return true;
}

bool read_top_k(const Field<Number>& field, Conversion& conversion) {
  if (!field.given()) return true;
  // -1 and 0 both mean "off" in the field.
  if (field.value.token == "-1") return conversion.request.sampling.top_k = 0, true;
  const auto k = whole_number(field.value, kTopKMax, Compat::kDefault);
  if (!k) {
    return conversion.issues.rule("Invalid top_k value, the valid range of top_k is [-1, 2^30]",
                                  "top_k");
  }
  conversion.request.sampling.top_k = static_cast<std::uint32_t>(*k);
  return true;
}

bool read_min_p(const Field<Number>& field, Conversion& conversion) {
  if (!field.given()) return true;
  const auto value = json_float_value(field.value.token);
  if (!(value >= 0 && value <= 1)) {
    return conversion.issues.rule("Invalid min_p value, the valid range of min_p is [0, 1]",
                                  "min_p");
  }
  conversion.request.sampling.min_p = value;
  return true;
}

bool read_logit_bias(const Field<JsonPart>& field, Conversion& conversion) {
  if (!field.given()) return true;
  const JsonTape& tape = conversion.tape;
  const JsonTape::Index object = field.value.index;
  if (tape.kind(object) != JsonKind::kObject || tape.count(object) > kBiasMax) {
    return conversion.issues.rule(
        "'logit_bias' must be an object of at most " + std::to_string(kBiasMax) + " token ids",
        "logit_bias");
  }
  bool right = true;
  tape.each(object, [&](std::string_view key, JsonTape::Index value) {
    right = right && read_bias(key, value, conversion);
  });
  return right;
}

bool read_tokens_min(const Field<Number>& field, Conversion& conversion) {
  if (!field.given()) return true;
  constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
  const auto least = whole_number(field.value, kU32Max, Compat::kDefault);
  const ConversationRequest& request = conversion.request;
  if (!least || *least > request.sampling.tokens_max.value_or(kU32Max)) {
    return conversion.issues.rule(
        "Invalid min_tokens value, the valid range of min_tokens is [0, max_tokens]", "min_tokens");
  }
  if (*least > 0 && !request.parsing.stops.empty()) {
    return conversion.issues.unsupported("min_tokens", "it does not go with stop strings");
  }
  conversion.request.sampling.tokens_min = static_cast<std::uint32_t>(*least);
  return true;
}

bool refuse_unless_it_says_nothing(std::string_view name, const Field<JsonPart>& field,
                                   Conversion& conversion) {
  if (!field.given() || says_nothing(name, field.value.index, conversion.tape)) return true;
  return conversion.issues.unsupported(std::string(name), "leave it out");
}

}  // namespace troupe::recipe
