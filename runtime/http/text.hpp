// The small text rules of HTTP (RFC 9110 section 5.6): tokens, ASCII case, white space. Pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace troupe::http {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

/// A method or a header name: one or more tchar.
inline bool is_token(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_digit(c) || is_alpha(c) || kMarks.find(c) != std::string_view::npos;
  });
}

inline bool iequals(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

/// Without leading and trailing spaces and tabs.
inline std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Appends "name: value\r\n". Control bytes become spaces, so that a value can never end the line
/// and add a header of its own.
inline void append_field(std::string& out, std::string_view name, std::string_view value) {
  const auto clean = [&](std::string_view text) {
    for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  };
  clean(name);
  out += ": ";
  clean(value);
  out += "\r\n";
}

}  // namespace troupe::http
