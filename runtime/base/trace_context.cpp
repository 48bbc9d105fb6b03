#include "runtime/base/trace_context.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace troupe {

namespace {

// Where the parts of a traceparent stand.
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = 36;
constexpr std::size_t kFlagsAt = 53;
constexpr std::size_t kSize = 55;

/// Lower case only (section 3.2.2): upper case is not a valid header.
std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char digit : digits) {
    const bool decimal = digit >= '0' && digit <= '9';
    if (!decimal && (digit < 'a' || digit > 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(decimal ? digit - '0' : digit - 'a' + 10);
  }
  return value;
}

void append_hex(std::string& out, std::uint64_t value) {
  char digits[16];
  for (char& digit : digits) {
    digit = "0123456789abcdef"[value >> 60];
    value <<= 4;
  }
  out.append(digits, sizeof digits);
}

bool has_shape(std::string_view text) {
  if (text.size() < kSize) return false;
  const std::string_view version = text.substr(0, 2);
  if (!parse_hex(version) || version == "ff") return false;
  if (version == "00" && text.size() != kSize) return false;
  if (text.size() > kSize && text[kSize] != '-') return false;
  return text[kTraceAt - 1] == '-' && text[kSpanAt - 1] == '-' && text[kFlagsAt - 1] == '-';
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (!has_shape(text)) return std::nullopt;
  const auto high = parse_hex(text.substr(kTraceAt, 16));
  const auto low = parse_hex(text.substr(kTraceAt + 16, 16));
  const auto span = parse_hex(text.substr(kSpanAt, 16));
  const auto flags = parse_hex(text.substr(kFlagsAt, 2));
  if (!high || !low || !span || !flags) return std::nullopt;
  if ((*high | *low) == 0 || *span == 0) return std::nullopt;
  return TraceContext{*high, *low, *span, 0, (*flags & 1) != 0};
}

TraceContext child_of(const TraceContext& caller, std::uint64_t span) {
  TROUPE_ASSERT(span != 0, "a span id of zeros is not valid");
  return {caller.trace_high, caller.trace_low, span, caller.span, caller.sampled};
}

std::string to_traceparent(const TraceContext& context) {
  TROUPE_ASSERT(context, "only a trace has a header");
  std::string text;
  text.reserve(kSize);
  text += "00-";
  append_hex(text, context.trace_high);
  append_hex(text, context.trace_low);
  text += '-';
  append_hex(text, context.span);
  text += context.sampled ? "-01" : "-00";
  return text;
}

std::string trace_id_text(const TraceContext& context) {
  std::string text;
  append_hex(text, context.trace_high);
  append_hex(text, context.trace_low);
  return text;
}

std::string span_id_text(std::uint64_t span) {
  std::string text;
  append_hex(text, span);
  return text;
}

bool is_tracestate(std::string_view text) {
  return !text.empty() && text.size() <= kTracestateBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c <= 0x7e; });
}

}  // namespace troupe
