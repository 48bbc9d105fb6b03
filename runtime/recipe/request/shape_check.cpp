#include "runtime/recipe/request/shape_check.hpp"

#include <cmath>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

/// What a message repeats of a client's text.
constexpr std::size_t kTextShown = 40;

}  // namespace

std::string_view kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kFalse:
    case JsonKind::kTrue:
      return "a boolean";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kArray:
      return "a list";
    case JsonKind::kObject:
      break;
  }
  return "an object";
}

std::optional<std::uint64_t> whole_number(Number number, std::uint64_t max, Compat compat) {
  if (const auto exact = json_unsigned(number.token)) {
    return *exact <= max ? exact : std::nullopt;
  }
  constexpr double kExactMax = 9007199254740992.0;  // 2^53: whole numbers below are exact
  const double value = json_number_value(number.token);
  const bool whole = std::floor(value) == value && value >= 0 && value <= kExactMax;
  if (compat == Compat::kDeepseek || !whole) return std::nullopt;
  const auto exact = static_cast<std::uint64_t>(value);
  return exact <= max ? std::optional(exact) : std::nullopt;
}

bool ShapeCheck::whole(const Field<Number>& field, std::string_view name, std::uint64_t max) {
  if (!optional(field, name)) return false;
  if (!field.given()) return true;
  const Compat mode = compat() ? Compat::kDeepseek : Compat::kDefault;
  if (whole_number(field.value, max, mode)) return true;
  return fail(name, "must be a whole number from 0 to " + std::to_string(max));
}

bool ShapeCheck::one_of(std::string_view value, std::string_view name,
                        std::initializer_list<std::string_view> names) {
  std::string all;
  for (const std::string_view each : names) {
    if (value == each) return true;
    all.append(all.empty() ? "" : ", ").append(each);
  }
  return fail(name, "must be one of " + all + ", not '" + excerpt(value, kTextShown) + "'");
}

bool ShapeCheck::missing(std::string_view name) {
  return fail(name, "is missing");
}

bool ShapeCheck::wrong_type(std::string_view name, JsonKind got, std::string_view wanted) {
  std::string what = "must be ";
  what.append(wanted).append(", not ").append(kind_name(got));
  return fail(name, what);
}

bool ShapeCheck::fail(std::string_view name, std::string_view what) {
  std::string path = path_of(name);
  std::string message = "'" + path + "' ";
  message += what;
  return issues_.shape(std::move(message), std::move(path));
}

std::string ShapeCheck::path_of(std::string_view name) const {
  std::string path;
  const auto add = [&](std::string_view step) {
    if (!path.empty() && !step.empty()) path += '.';
    path += step;
  };
  for (const Step& step : path_) {
    add(step.name);
    if (step.index != kNoIndex) path += "[" + std::to_string(step.index) + "]";
  }
  add(name);
  return path;
}

}  // namespace troupe::recipe
