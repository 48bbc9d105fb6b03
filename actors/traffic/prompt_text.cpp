#include "actors/traffic/prompt_text.hpp"

#include <array>

#include "runtime/base/rng.hpp"

namespace troupe {

namespace {

constexpr std::array<const char*, 32> kWords = {
    "the",  "of",   "and", "to",  "in",  "is",   "that",  "for", "it",  "as",  "was",
    "with", "be",   "by",  "on",  "not", "he",   "his",   "but", "at",  "are", "this",
    "have", "from", "or",  "had", "an",  "they", "which", "one", "you", "were"};
constexpr std::uint32_t kBitsOfWord = 5;
/// Words that spell a name of 64 bits.
constexpr std::uint32_t kSpelling = 13;

}  // namespace

void append_words(std::string& text, std::uint64_t content, std::uint32_t count) {
  Rng rng(content);
  text.reserve(text.size() + std::size_t{count} * 5);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!text.empty()) text += ' ';
    const std::uint64_t bits = i < kSpelling ? content >> (kBitsOfWord * i) : rng.next();
    text += kWords[bits % kWords.size()];
  }
}

}  // namespace troupe
