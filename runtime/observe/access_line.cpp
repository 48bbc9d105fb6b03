#include "runtime/observe/access_line.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

namespace troupe {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

/// Bytes of the valid UTF-8 sequence that begins here; 0: none does.
std::size_t sequence_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool beyond = first == 0xf4 && byte(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : size;
}

bool is_plain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(end - text.begin());
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const char c = text.front();
    std::size_t taken = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if ((c >= 0 && c < 0x20) || c == 0x7f) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[c >> 4 & 0xf];
      out += kHex[c & 0xf];
    } else if (const std::size_t size = sequence_size(text); size > 0) {
      out.append(text.substr(0, size));
      taken = size;
    } else {
      out += kReplacement;
    }
    text.remove_prefix(taken);
  }
}

/// Writes the members of one object.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_ += '{'; }

  void key(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_.append(name) += "\":";
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    if (value.empty()) {
      out_ += "null";
      return;
    }
    out_ += '"';
    append_escaped(out_, value);
    out_ += '"';
  }
  void name(std::string_view name, std::string_view value) {
    text(name, value.substr(0, kNameBytesMax));
  }
  void number(std::string_view name, std::uint64_t value) {
    key(name);
    put(value);
  }
  void truth(std::string_view name, bool value) {
    key(name);
    out_ += value ? "true" : "false";
  }
  void null(std::string_view name) {
    key(name);
    out_ += "null";
  }
  /// Milliseconds with three decimals; null where `known` is false.
  void time(std::string_view name, Duration value, bool known) {
    if (!known) return null(name);
    key(name);
    const std::uint64_t micros =
        value.value < 0 ? 0 : static_cast<std::uint64_t>(value.value) / 1000;
    put(micros / 1000);
    const std::uint64_t rest = micros % 1000;
    out_ += '.';
    for (const std::uint64_t place : {100, 10, 1}) {
      out_ += static_cast<char>('0' + rest / place % 10);
    }
  }

 private:
  void put(std::uint64_t value) {
    char digits[20];
    out_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  std::string& out_;
};

/// "2026-11-30T10:27:04.123Z". The second's part is formatted once a second.
std::string_view time_text(std::int64_t unix_ms) {
  thread_local std::time_t last = -1;
  thread_local char text[40];
  const std::time_t second = unix_ms / 1000;
  if (second != last) {
    std::tm utc{};
    gmtime_r(&second, &utc);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000Z", &utc);
    last = second;
  }
  const std::int64_t rest = unix_ms % 1000;
  text[20] = static_cast<char>('0' + rest / 100);
  text[21] = static_cast<char>('0' + rest / 10 % 10);
  text[22] = static_cast<char>('0' + rest % 10);
  return {text, 24};
}

void append_trace(Members& line, const TraceContext& trace) {
  if (!trace) {
    for (const char* key : {"trace_id", "span_id", "parent_span_id", "sampled"}) line.null(key);
    return;
  }
  line.text("trace_id", trace_id_text(trace));
  line.text("span_id", span_id_text(trace.span));
  line.text("parent_span_id", trace.parent == 0 ? "" : span_id_text(trace.parent));
  line.truth("sampled", trace.sampled);
}

void append_generation(Members& line, const AccessRecord& record) {
  const std::pair<const char*, std::uint32_t> tokens[] = {
      {"prompt_tokens", record.prompt_tokens},
      {"cached_tokens", record.cached_tokens},
      {"output_tokens", record.output_tokens},
      {"reasoning_tokens", record.reasoning_tokens}};
  for (const auto& [key, count] : tokens) {
    if (record.generated) {
      line.number(key, count);
    } else {
      line.null(key);
    }
  }
  const bool answered = record.generated && record.first_token > Duration();
  line.time("queue_ms", record.queued, answered);
  line.time("prefill_ms", record.first_token - record.queued, answered);
  line.time("ttft_ms", record.first_token, answered);
  line.time("decode_ms", record.decoded, answered);
}

}  // namespace

void append_access_line(std::string& out, const AccessRecord& record) {
  Members line(out);
  line.text("time", time_text(record.unix_ms));
  line.text("request_id", record.id.number == 0 ? "" : to_string(record.id));
  line.name("client_request_id", record.client_id);
  append_trace(line, record.trace);
  line.name("tenant", record.tenant);
  line.text("client", record.peer);
  line.name("method", record.method);
  line.name("path", record.path);
  line.text("protocol", record.protocol);
  line.name("model", record.model);
  line.number("status", static_cast<std::uint64_t>(record.status));
  line.truth("stream", record.streamed);
  append_generation(line, record);
  line.time("total_ms", record.total, true);
  line.text("finish", record.finish);
  line.number("bytes_out", record.body_bytes);
  line.name("error", record.error);
  if (record.with_text) {
    line.text("request_text", record.request_text);
    line.text("answer_text", record.answer_text);
  }
  out += "}\n";
}

}  // namespace troupe
