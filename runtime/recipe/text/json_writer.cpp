#include "runtime/recipe/text/json_writer.hpp"

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

}  // namespace

void JsonWriter::separate() {
  if (comma_) out_ += ',';
  comma_ = true;
}

void JsonWriter::quote(std::string_view value) {
  out_ += '"';
  while (!value.empty()) {
    const Utf8Char next = first_char(value);
    if (next.state != Utf8State::kValid) {
      out_ += kReplacement;
    } else if (next.code < 0x20 || next.code == 0x7F || next.code == '"' || next.code == '\\') {
      append_escaped(out_, value[0]);
    } else {
      out_ += value.substr(0, next.bytes);
    }
    value.remove_prefix(next.bytes);
  }
  out_ += '"';
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
  quote(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  quote(value);
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
  if (!std::isfinite(value)) return null();
  separate();
  append_number(out_, value);
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
