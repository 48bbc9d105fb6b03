#include "runtime/recipe/tokenizer/normal_form.hpp"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

/// Below U+0300, the first combining mark, everything is in normal form C and stays as it is.
constexpr unsigned char kFirstLeadOfMarks = 0xCC;

bool needs_a_look(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= kFirstLeadOfMarks) return true;
  }
  return false;
}

struct Freed {
  void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

/// Requires: valid UTF-8.
void append_nfc(std::string_view text, std::string& out) {
  utf8proc_uint8_t* raw = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &raw,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  TROUPE_ASSERT(length >= 0, "valid text has a normal form, given memory");
  const std::unique_ptr<utf8proc_uint8_t, Freed> normal(raw);
  out.append(reinterpret_cast<const char*>(normal.get()), static_cast<std::size_t>(length));
}

}  // namespace

std::optional<std::string> to_nfc(std::string_view text) {
  if (!needs_a_look(text)) return std::nullopt;
  std::string out;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char next = first_char(text.substr(at));
    if (next.state != Utf8State::kValid) {
      append_nfc(text.substr(start, at - start), out);
      out += text.substr(at, next.bytes);
      start = at + next.bytes;
    }
    at += next.bytes;
  }
  append_nfc(text.substr(start), out);
  if (out == text) return std::nullopt;
  return out;
}

}  // namespace troupe
