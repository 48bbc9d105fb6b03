#include "runtime/recipe/text/utf8.hpp"

#include <cstddef>
#include <cstring>

#include "runtime/base/assert.hpp"

namespace troupe {
namespace {

/// What a first byte promises: how many bytes follow, and the range of the second one (Unicode 15,
/// table 3-7), which excludes overlong forms, surrogates and codes above U+10FFFF.
struct Lead {
  std::uint8_t following;
  std::uint8_t second_min = 0x80;
  std::uint8_t second_max = 0xBF;
};

constexpr std::uint8_t kNoLead = 0xFF;

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {0};
  if (byte < 0xC2 || byte > 0xF4) return {kNoLead};
  if (byte < 0xE0) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte < 0xF0) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  return {3};
}

/// Bytes at the start, in steps of eight, that are ASCII and no control characters.
std::size_t printable_prefix(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  constexpr std::uint64_t kBelowSpace = 0x6060606060606060;  // carries into the high bit from 0x20
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text.data() + at, 8);
    if ((bytes & kHigh) != 0 || ((bytes + kBelowSpace) & kHigh) != kHigh) break;
  }
  return at;
}

/// Bytes at the start, whole characters, that are of three bytes: most of what is not ASCII.
std::size_t three_byte_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + 3 <= text.size(); at += 3) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
    if ((byte(0) & 0xF0) != 0xE0 || (byte(1) & 0xC0) != 0x80 || (byte(2) & 0xC0) != 0x80) break;
    // Neither overlong (E0 80..9F) nor a surrogate (ED A0..BF).
    if ((byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) >= 0xA0)) break;
  }
  return at;
}

/// Where a text stops being what both prefixes can pass.
std::size_t skip_common(std::string_view text, std::size_t at) {
  while (true) {
    const std::size_t before = at;
    at += printable_prefix(text.substr(at));
    at += three_byte_prefix(text.substr(at));
    if (at == before) return at;
  }
}

}  // namespace

Utf8Char first_char(std::string_view text) {
  TROUPE_ASSERT(!text.empty(), "first_char() needs a byte");
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, Utf8State::kValid};
  const Lead lead = lead_of(first);
  if (lead.following == kNoLead) return {0, 1, Utf8State::kInvalid};
  char32_t code = first & (0x3Fu >> lead.following);
  for (std::uint8_t i = 1; i <= lead.following; ++i) {
    if (i >= text.size()) return {0, i, Utf8State::kIncomplete};
    const std::uint8_t min = i == 1 ? lead.second_min : 0x80;
    const std::uint8_t max = i == 1 ? lead.second_max : 0xBF;
    if (byte(i) < min || byte(i) > max) return {0, i, Utf8State::kInvalid};
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  return {code, static_cast<std::uint8_t>(lead.following + 1), Utf8State::kValid};
}

bool is_valid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    at = skip_common(text, at);
    if (at >= text.size()) return true;
    const Utf8Char next = first_char(text.substr(at));
    if (next.state != Utf8State::kValid) return false;
    at += next.bytes;
  }
}

std::optional<std::size_t> find_non_text(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    at = skip_common(text, at);
    if (at >= text.size()) return std::nullopt;
    const Utf8Char next = first_char(text.substr(at));
    const bool control =
        next.code < 0x20 && next.code != '\t' && next.code != '\n' && next.code != '\r';
    if (next.state != Utf8State::kValid || control) return at;
    at += next.bytes;
  }
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::size_t append_valid_utf8(std::string& out, std::string_view bytes, bool at_end) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const Utf8Char next = first_char(rest);
    if (next.state == Utf8State::kIncomplete && !at_end) break;
    out += next.state == Utf8State::kValid ? rest.substr(0, next.bytes) : kReplacement;
    rest.remove_prefix(next.bytes);
  }
  return bytes.size() - rest.size();
}

std::string excerpt(std::string_view text, std::size_t bytes_max) {
  std::string out;
  while (!text.empty()) {
    const Utf8Char next = first_char(text);
    std::string_view shown = text.substr(0, next.bytes);
    if (next.state != Utf8State::kValid) shown = kReplacement;
    if (next.state == Utf8State::kValid && (next.code < 0x20 || next.code == 0x7F)) shown = "?";
    if (out.size() + shown.size() + 3 > bytes_max) return out + "...";
    out += shown;
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string shortened(std::string text, std::size_t bytes_max) {
  constexpr std::string_view kGap = " ... ";
  TROUPE_ASSERT(bytes_max >= 16, "shortened() needs room for both ends");
  if (text.size() <= bytes_max) return text;
  const auto inside = [&](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
  const std::size_t kept = bytes_max - kGap.size();
  std::size_t end = text.size() - kept / 3;  // what is wrong stands first, and gets more
  std::size_t begin = kept - kept / 3;
  while (begin > 0 && inside(begin)) --begin;
  while (end < text.size() && inside(end)) ++end;
  return text.replace(begin, end - begin, kGap);
}

}  // namespace troupe
