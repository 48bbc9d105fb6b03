#include "runtime/recipe/text/json_writer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

template <class Number>
void append_number(std::string& out, Number value) {
  char digits[32];  // the shortest form of a double needs at most 24 characters
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

void append_escaped(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 0xF];
}

/// ASCII that needs no escape.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

}  // namespace

void append_json_quoted(std::string& out, std::string_view value) {
  out += '"';
  while (!value.empty()) {
    const auto special = std::find_if_not(value.begin(), value.end(), is_plain);
    const auto plain = static_cast<std::size_t>(special - value.begin());
    out.append(value.data(), plain);
    value.remove_prefix(plain);
    if (value.empty()) break;
    const Utf8Char next = first_char(value);
    if (next.state != Utf8State::kValid) {
      out += kReplacement;
    } else if (next.bytes == 1) {
      append_escaped(out, value[0]);
    } else {
      out += value.substr(0, next.bytes);
    }
    value.remove_prefix(next.bytes);
  }
  out += '"';
}

void append_json_real(std::string& out, double value) {
  if (std::isfinite(value)) {
    append_number(out, value);
  } else {
    out += "null";
  }
}

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_quoted(out_, name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  append_json_quoted(out_, value);
  return *this;
}

JsonWriter& JsonWriter::text_or_null(std::string_view value) {
  return value.empty() ? null() : text(value);
}

JsonWriter& JsonWriter::number(std::int64_t value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::number(std::uint64_t value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  separate();
  append_json_real(out_, value);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ += "null";
  return *this;
}

std::string JsonWriter::take() {
  comma_ = false;
  return std::exchange(out_, {});
}

}  // namespace troupe
