// Text to typed values and back: the spelling of durations, sizes, numbers and booleans.
//
// The same spelling holds in YAML, in flags and in TROUPE_* variables. Parsing takes the whole text
// or fails: no spaces, no trailing letters, no silent rounding of an overflow. Errors say what was
// expected and what was found; the caller adds where.
//
// Units: durations ns, us, ms, s, m, h ("250ms", "1.5s"; a bare number only if it is 0); sizes B,
// KiB, MiB, GiB, TiB and the decimal kB, MB, GB, TB ("1GiB"; a bare number counts bytes).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/base/strong.hpp"
#include "runtime/base/time.hpp"

namespace troupe::config {

Result<bool> parse_bool(std::string_view text);
Result<std::int64_t> parse_integer(std::string_view text);
/// Finite numbers only.
Result<double> parse_real(std::string_view text);
/// Not negative, below 292 years.
Result<Duration> parse_duration(std::string_view text);
/// At most 2^62 bytes.
Result<Bytes> parse_bytes(std::string_view text);

/// "such as 32MiB (units: ...)", for messages and help.
std::string size_units();

/// The shortest spelling that parses back to the same value: 250ms, 1GiB.
std::string format(Duration duration);
std::string format(Bytes bytes);
std::string format(double real);

/// The text in double quotes, shortened to 60 bytes, control characters as \xNN: safe in a message.
std::string in_quotes(std::string_view text);

}  // namespace troupe::config
