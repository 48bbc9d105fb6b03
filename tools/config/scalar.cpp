#include "tools/config/scalar.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

namespace troupe::config {

namespace {

struct UnitSize {
  std::string_view name;
  std::int64_t size;
};

// Largest first, so that formatting finds the shortest spelling.
constexpr std::array<UnitSize, 6> kDurations{{{"h", 3'600'000'000'000},
                                              {"m", 60'000'000'000},
                                              {"s", 1'000'000'000},
                                              {"ms", 1'000'000},
                                              {"us", 1'000},
                                              {"ns", 1}}};
constexpr std::array<UnitSize, 9> kSizes{{{"TiB", 1ll << 40},
                                          {"GiB", 1ll << 30},
                                          {"MiB", 1ll << 20},
                                          {"KiB", 1ll << 10},
                                          {"TB", 1'000'000'000'000},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"kB", 1'000},
                                          {"B", 1}}};
// Below the limit of int64, with room for the rounding of a double.
constexpr double kLargestAmount = 0x1.0p62;

Error expected(std::string_view what, std::string_view text) {
  return {Code::kInvalid, "expected " + std::string(what) + ", found " + in_quotes(text)};
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1.5s" with the table of units to an amount of the smallest unit, rounded to the nearest.
std::optional<std::int64_t> amount(std::string_view text, std::span<const UnitSize> units) {
  const std::size_t letters = text.find_first_not_of("0123456789.");
  if (letters == std::string_view::npos || letters == 0) return std::nullopt;
  const std::string_view digits = text.substr(0, letters);
  for (const UnitSize& unit : units) {
    if (text.substr(letters) != unit.name) continue;
    if (const auto whole = number<std::int64_t>(digits)) {
      std::int64_t product = 0;
      if (__builtin_mul_overflow(*whole, unit.size, &product)) return std::nullopt;
      return product;
    }
    const auto real = number<double>(digits);
    if (!real || !(*real * static_cast<double>(unit.size) < kLargestAmount)) return std::nullopt;
    return std::llround(*real * static_cast<double>(unit.size));
  }
  return std::nullopt;
}

std::string format_amount(std::int64_t value, std::span<const UnitSize> units) {
  for (const UnitSize& unit : units) {
    if (value >= unit.size && value % unit.size == 0) {
      return std::to_string(value / unit.size) + std::string(unit.name);
    }
  }
  return std::string("0").append(units.back().name);
}

}  // namespace

Result<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return expected("true or false", text);
}

Result<std::int64_t> parse_integer(std::string_view text) {
  if (const auto value = number<std::int64_t>(text)) return *value;
  return expected("a whole number", text);
}

Result<double> parse_real(std::string_view text) {
  const auto value = number<double>(text);
  if (value && std::isfinite(*value)) return *value;
  return expected("a number", text);
}

Result<Duration> parse_duration(std::string_view text) {
  if (text == "0") return Duration(0);
  if (const auto value = amount(text, kDurations)) return Duration(*value);
  return expected("a duration with its unit, such as 250ms, 10s or 5m", text);
}

Result<Bytes> parse_bytes(std::string_view text) {
  const auto bare = number<std::int64_t>(text);
  const auto value = bare ? bare : amount(text, kSizes);
  if (value && *value >= 0 && static_cast<double>(*value) <= kLargestAmount) {
    return Bytes(static_cast<std::uint64_t>(*value));
  }
  return expected("a size " + size_units(), text);
}

std::string size_units() {
  std::string units;
  for (const UnitSize& unit : kSizes) units.append(units.empty() ? "" : ", ").append(unit.name);
  return "such as 32MiB (units: " + units + ")";
}

std::string format(Duration duration) {
  return format_amount(duration.value, kDurations);
}

std::string format(Bytes bytes) {
  return format_amount(static_cast<std::int64_t>(bytes.value), kSizes);
}

std::string format(double real) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), real).ptr;
  return std::string(buffer.data(), end);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "\"";
  for (const char letter : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x20 || byte >= 0x7f) {
      std::array<char, 5> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      result += escape.data();
    } else {
      result += letter;
    }
  }
  return result + (text.size() > kLongest ? "...\"" : "\"");
}

}  // namespace troupe::config
