// W3C Trace Context: which trace a request belongs to, and who asked within it. Pure.
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//                version, trace id, span id of the caller, flags (bit 0: sampled)
//
// Source: the W3C recommendation "Trace Context" (2021), sections 3.2 and 3.3. A header that is not
// exactly of this form counts as none (3.2.2.5): a trace that is stitched together wrongly is worse
// than a new one.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

struct TraceContext {
  std::uint64_t trace_high = 0;
  std::uint64_t trace_low = 0;  ///< both 0: there is no trace
  std::uint64_t span = 0;       ///< of whoever sends this on
  std::uint64_t parent = 0;     ///< the span that asked; 0: the trace begins here
  bool sampled = false;         ///< as the caller said; what begins here is not sampled

  explicit operator bool() const { return (trace_high | trace_low) != 0; }
  bool operator==(const TraceContext&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit("trace_high", self.trace_high);
    visit("trace_low", self.trace_low);
    visit("span", self.span);
    visit("parent", self.parent);
    visit("sampled", self.sampled);
  }
};

/// The caller's context, with its span as `span`. Nothing: not of the form above. A later version
/// is read as far as this one goes; of the flags only `sampled` is kept.
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// The same trace for what the caller's span asks for, as a span of its own.
/// Requires: span is not 0.
TraceContext child_of(const TraceContext& caller, std::uint64_t span);

/// "00-…-…-01". Requires: there is a trace.
std::string to_traceparent(const TraceContext& context);

/// 16 or 32 lower-case hexadecimal digits, as logs show them.
std::string trace_id_text(const TraceContext& context);
std::string span_id_text(std::uint64_t span);

/// Longest tracestate that is passed on: what section 3.3.1.5 asks of everybody at least.
inline constexpr std::size_t kTracestateBytesMax = 512;
/// Whether a tracestate may be passed on as it is: printable ASCII within the limit, not empty.
bool is_tracestate(std::string_view text);

}  // namespace troupe
