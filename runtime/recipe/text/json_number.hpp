// Numbers of JSON: their tokens as values, and values printed as the reference prints them.
//
// A token without fraction or exponent that fits 64 bits is an integer and is printed as it is;
// "-0" and every other token is a double, printed in the fewest digits that give it back
// (recipe SPEC 4, "JSON numbers re-printed").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

enum class JsonNumbers : std::uint8_t {
  /// Decimal from 1e-5 to below 1e16, else "1e+16", "1.25e-6". V4 prompts, output constraints.
  kShort,
  /// Decimal from 1e-4 to below 1e16, else "1e+16", "1e-06": as Python. V4.1 prompts.
  kPython,
};

/// Requires of all: `token` is a number token of JSON.
bool is_finite_json_number(std::string_view token);
double json_number_value(std::string_view token);
/// The same in 32 bits; what is beyond their range is the largest of them, so that comparisons
/// hold.
float json_float_value(std::string_view token);
/// Nothing unless the token is an integer of that range.
std::optional<std::uint64_t> json_unsigned(std::string_view token);
std::optional<std::int64_t> json_signed(std::string_view token);

void append_json_number(std::string& out, std::string_view token, JsonNumbers style);

/// Digits of our own numbers: counts, times, ids.
void append_number(std::string& out, std::uint64_t value);
void append_number(std::string& out, std::int64_t value);
/// The fewest digits that give it back; null for what JSON does not have: NaN, infinity.
void append_json_real(std::string& out, double value);

}  // namespace troupe
