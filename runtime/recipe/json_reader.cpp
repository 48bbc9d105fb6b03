#include "runtime/recipe/json_reader.hpp"

#include <rapidjson/error/en.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

constexpr int kDepthMax = 64;

/// True if brackets outside of strings nest deeper than the limit. Wrong JSON is found elsewhere.
bool nests_too_deep(std::string_view body) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kDepthMax) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

ApiError bad_json(std::string why) {
  return {400, "invalid_request_error", "", "invalid_json",
          "The request body is not valid JSON: " + std::move(why)};
}

std::string_view type_of(const JsonValue& value) {
  switch (value.GetType()) {
    case rapidjson::kNullType:
      return "null";
    case rapidjson::kFalseType:
    case rapidjson::kTrueType:
      return "a boolean";
    case rapidjson::kObjectType:
      return "an object";
    case rapidjson::kArrayType:
      return "an array";
    case rapidjson::kStringType:
      return "a string";
    case rapidjson::kNumberType:
      break;
  }
  return "a number";
}

/// A number for a message: 0.5, not 0.500000.
std::string shown(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

}  // namespace

std::variant<rapidjson::Document, ApiError> parse_json(std::string_view body) {
  if (!is_valid_utf8(body)) return bad_json("it is not UTF-8");
  if (body.find('\0') != std::string_view::npos) return bad_json("it holds a zero byte");
  if (nests_too_deep(body)) {
    return bad_json("it is nested deeper than " + std::to_string(kDepthMax) + " levels");
  }
  constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag;
  rapidjson::Document document;
  document.Parse<kFlags>(body.data(), body.size());
  if (document.HasParseError()) {
    return bad_json(std::string(rapidjson::GetParseError_En(document.GetParseError())) +
                    " (at byte " + std::to_string(document.GetErrorOffset()) + ")");
  }
  if (!document.IsObject()) return bad_json("it must be an object");
  return document;
}

std::string_view string_of(const JsonValue& value) {
  return {value.GetString(), value.GetStringLength()};
}

const JsonValue* JsonFields::find(const char* name) const {
  for (auto member = object_.MemberEnd(); member != object_.MemberBegin();) {
    --member;
    if (string_of(member->name) != name) continue;
    return member->value.IsNull() ? nullptr : &member->value;
  }
  return nullptr;
}

std::optional<bool> JsonFields::boolean(const char* name) const {
  const JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->IsBool()) return value->GetBool();
  wrong_type(name, *value, "a boolean");
  return std::nullopt;
}

std::optional<std::string> JsonFields::string(const char* name) const {
  const JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->IsString()) {
    wrong_type(name, *value, "a string");
    return std::nullopt;
  }
  // An escaped half of a surrogate pair is valid JSON, but no text.
  if (!is_valid_utf8(string_of(*value))) {
    fail(name, "'" + path_of(name) + "' holds half of a surrogate pair, which is no character");
    return std::nullopt;
  }
  return std::string(string_of(*value));
}

std::optional<double> JsonFields::real(const char* name, double min, double max) const {
  const JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->IsNumber()) {
    wrong_type(name, *value, "a number");
    return std::nullopt;
  }
  const double number = value->GetDouble();
  if (number >= min && number <= max) return number;
  fail(name, "'" + path_of(name) + "' must be from " + shown(min) + " to " + shown(max) + ", not " +
                 shown(number));
  return std::nullopt;
}

std::optional<std::int64_t> JsonFields::integer(const char* name, std::int64_t min,
                                                std::int64_t max) const {
  const JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  constexpr double kExactMax = 9007199254740992.0;  // 2^53: whole numbers below are exact
  const double number = value->IsNumber() ? value->GetDouble() : 0.5;
  const bool whole = value->IsInt64() || value->IsUint64() ||
                     (std::floor(number) == number && std::fabs(number) <= kExactMax);
  if (!whole) {
    wrong_type(name, *value, "an integer");
    return std::nullopt;
  }
  const bool fits = !value->IsUint64() || value->IsInt64();
  const std::int64_t exact = value->IsInt64() ? value->GetInt64()
                             : fits           ? static_cast<std::int64_t>(number)
                                              : 0;
  if (fits && exact >= min && exact <= max) return exact;
  fail(name, "'" + path_of(name) + "' must be from " + std::to_string(min) + " to " +
                 std::to_string(max));
  return std::nullopt;
}

const JsonValue* JsonFields::object(const char* name) const {
  const JsonValue* value = find(name);
  if (value == nullptr || value->IsObject()) return value;
  wrong_type(name, *value, "an object");
  return nullptr;
}

const JsonValue* JsonFields::array(const char* name) const {
  const JsonValue* value = find(name);
  if (value == nullptr || value->IsArray()) return value;
  wrong_type(name, *value, "an array");
  return nullptr;
}

std::string JsonFields::path_of(const char* name) const {
  return path_.empty() ? std::string(name) : path_ + "." + name;
}

void JsonFields::fail(ApiError error) const {
  if (!error_) error_ = std::move(error);
}

void JsonFields::fail(const char* name, std::string message) const {
  fail(invalid_parameter(path_of(name), std::move(message)));
}

void JsonFields::wrong_type(const char* name, const JsonValue& value,
                            std::string_view wanted) const {
  std::string message = "'" + path_of(name) + "' must be ";
  message.append(wanted).append(", not ").append(type_of(value));
  fail(name, std::move(message));
}

}  // namespace troupe
