#include "runtime/recipe/text/json_number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "runtime/base/assert.hpp"

namespace troupe {
namespace {

/// Beyond 19 digits, or with any of these, a token may be out of range.
bool is_surely_finite(std::string_view token) {
  return token.size() < 300 && token.find_first_of("eE") == std::string_view::npos;
}

bool is_integer(std::string_view token) {
  return token.find_first_of(".eE") == std::string_view::npos && token != "-0";
}

template <class Integer>
std::optional<Integer> integer_of(std::string_view token) {
  if (!is_integer(token)) return std::nullopt;
  Integer value{};
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return value;
}

/// Tells the two kinds of "out of range" apart: from_chars() does not.
bool is_at_least_one(std::string_view token) {
  constexpr std::int64_t kFar = 1'000'000'000'000;
  const std::size_t e = token.find_first_of("eE");
  const std::string_view digits = token.substr(0, e);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    const bool negative = token[e + 1] == '-';
    const char* begin = token.data() + e + 1 + (negative || token[e + 1] == '+' ? 1 : 0);
    const auto error = std::from_chars(begin, token.data() + token.size(), exponent).ec;
    if (error == std::errc::result_out_of_range) exponent = kFar;
    exponent = std::min(exponent, kFar) * (negative ? -1 : 1);
  }
  // Digits from the first one that counts to the point; negative behind the point.
  return static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + exponent > 0;
}

/// Digits without a point, and the power of ten of the first one.
struct Decimal {
  char digits[24];
  int count = 0;
  int exponent = 0;
};

Decimal decimal_of(double magnitude) {
  char text[32];  // "d.ddddddddddddddddde-308"
  const auto end =
      std::to_chars(text, text + sizeof text, magnitude, std::chars_format::scientific).ptr;
  Decimal decimal;
  const char* at = text;
  for (; at != end && *at != 'e'; ++at) {
    if (*at != '.') decimal.digits[decimal.count++] = *at;
  }
  TROUPE_ASSERT(at != end, "scientific notation has an exponent");
  if (*++at == '+') ++at;
  std::from_chars(at, end, decimal.exponent);
  return decimal;
}

void append_plain(std::string& out, const Decimal& decimal) {
  const int point = decimal.exponent + 1;  // digits before the decimal point
  if (point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out.append(decimal.digits, static_cast<std::size_t>(decimal.count));
    return;
  }
  for (int i = 0; i < point || i < decimal.count; ++i) {
    if (i == point) out += '.';
    out += i < decimal.count ? decimal.digits[i] : '0';
  }
  if (decimal.count <= point) out += ".0";
}

void append_scientific(std::string& out, const Decimal& decimal, JsonNumbers style) {
  out += decimal.digits[0];
  if (decimal.count > 1) {
    out += '.';
    out.append(decimal.digits + 1, static_cast<std::size_t>(decimal.count - 1));
  }
  out += decimal.exponent < 0 ? "e-" : "e+";
  const int magnitude = std::abs(decimal.exponent);
  if (style == JsonNumbers::kPython && magnitude < 10) out += '0';
  out += std::to_string(magnitude);
}

template <class Number>
void append_digits(std::string& out, Number value) {
  char digits[32];  // the shortest form of a double needs at most 24 characters, 64 bits 20
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

float json_float_value(std::string_view token) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(json_number_value(token), -kMax, kMax));
}

double json_number_value(std::string_view token) {
  double value = 0;
  const auto error = std::from_chars(token.data(), token.data() + token.size(), value).ec;
  if (error != std::errc::result_out_of_range) return value;
  const double magnitude = is_at_least_one(token) ? HUGE_VAL : 0.0;
  return token[0] == '-' ? -magnitude : magnitude;
}

bool is_finite_json_number(std::string_view token) {
  return is_surely_finite(token) || std::isfinite(json_number_value(token));
}

std::optional<std::uint64_t> json_unsigned(std::string_view token) {
  return integer_of<std::uint64_t>(token);
}

std::optional<std::int64_t> json_signed(std::string_view token) {
  return integer_of<std::int64_t>(token);
}

void append_json_number(std::string& out, std::string_view token, JsonNumbers style) {
  if (json_unsigned(token) || json_signed(token)) {
    out += token;
    return;
  }
  const double value = json_number_value(token);
  if (std::signbit(value)) out += '-';
  const double magnitude = std::fabs(value);
  if (magnitude == 0) {
    out += "0.0";
    return;
  }
  const Decimal decimal = decimal_of(magnitude);
  const int exponent_min = style == JsonNumbers::kPython ? -4 : -5;
  if (decimal.exponent >= exponent_min && decimal.exponent < 16) {
    append_plain(out, decimal);
  } else {
    append_scientific(out, decimal, style);
  }
}

void append_number(std::string& out, std::uint64_t value) {
  append_digits(out, value);
}

void append_number(std::string& out, std::int64_t value) {
  append_digits(out, value);
}

void append_json_real(std::string& out, double value) {
  if (std::isfinite(value)) {
    append_digits(out, value);
  } else {
    out += "null";
  }
}

}  // namespace troupe
