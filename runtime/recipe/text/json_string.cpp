#include "runtime/recipe/text/json_string.hpp"

#include <array>

#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

void append_escape(std::string& out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  const char* shorts = "\"\"\\\\\bb\ff\nn\rr\tt";
  for (; *shorts != '\0'; shorts += 2) {
    if (*shorts != c) continue;
    out += '\\';
    out += shorts[1];
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[byte >> 4];
  out += kHex[byte & 0xF];
}

constexpr std::array<bool, 256> escapes() {
  std::array<bool, 256> needed{};
  for (std::size_t c = 0; c < 0x20; ++c) needed[c] = true;
  needed['"'] = needed['\\'] = true;
  return needed;
}

/// Bytes at the start that stand in a JSON string as they are.
std::size_t plain_prefix(std::string_view text) {
  static constexpr auto kEscapes = escapes();
  std::size_t at = 0;
  while (at < text.size() && !kEscapes[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  std::string valid;
  if (!is_valid_utf8(text)) {
    append_valid_utf8(valid, text, true);
    text = valid;
  }
  out += '"';
  while (true) {
    const std::size_t plain = plain_prefix(text);
    out.append(text.substr(0, plain));
    if (plain == text.size()) break;
    append_escape(out, text[plain]);
    text.remove_prefix(plain + 1);
  }
  out += '"';
}

}  // namespace troupe
