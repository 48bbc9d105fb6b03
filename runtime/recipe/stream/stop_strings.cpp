#include "runtime/recipe/stream/stop_strings.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace troupe::recipe {
namespace {

std::vector<std::uint32_t> borders(std::string_view text) {
  std::vector<std::uint32_t> border(text.size() + 1, 0);
  for (std::size_t i = 1; i < text.size(); ++i) {
    std::uint32_t length = border[i];
    while (length > 0 && text[length] != text[i]) length = border[length];
    border[i + 1] = text[length] == text[i] ? length + 1 : 0;
  }
  return border;
}

}  // namespace

StopStrings::StopStrings(const std::vector<std::string>& strings, Compat compat)
    : longest_(compat == Compat::kDefault) {
  patterns_.reserve(strings.size());
  for (const std::string& text : strings) {
    TROUPE_ASSERT(!text.empty(), "a stop string has characters");
    patterns_.push_back({text, borders(text), 0});
  }
}

void StopStrings::restart() {
  for (Pattern& pattern : patterns_) pattern.matched = 0;
  partial_ = 0;
}

const std::string* StopStrings::push(char byte) {
  partial_ = 0;
  const std::string* found = nullptr;
  for (Pattern& pattern : patterns_) {
    while (pattern.matched > 0 && pattern.text[pattern.matched] != byte) {
      pattern.matched = pattern.border[pattern.matched];
    }
    if (pattern.text[pattern.matched] == byte) ++pattern.matched;
    if (pattern.matched == pattern.text.size()) {
      if (!found || (longest_ && found->size() < pattern.text.size())) found = &pattern.text;
      pattern.matched = pattern.border[pattern.matched];
    }
    partial_ = std::max<std::size_t>(partial_, pattern.matched);
  }
  return found;
}

void StopStrings::add_first_bytes(std::bitset<256>& bytes) const {
  for (const Pattern& pattern : patterns_) {
    bytes.set(static_cast<unsigned char>(pattern.text.front()));
  }
}

}  // namespace troupe::recipe
