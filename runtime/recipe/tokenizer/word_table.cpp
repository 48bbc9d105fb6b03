#include "runtime/recipe/tokenizer/word_table.hpp"

#include <bit>
#include <cstring>

#include "runtime/base/assert.hpp"

namespace troupe {
namespace {

constexpr std::size_t kShort = 8;
// Odd numbers with well mixed bits: the fractional parts of the square roots of 2 and 3.
constexpr std::uint64_t kMixA = 0x6A09E667F3BCC909;
constexpr std::uint64_t kMixB = 0xBB67AE8584CAA73B;

template <class Number>
std::uint64_t load(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

/// The bytes of a short word as a number; different for different words of one length.
std::uint64_t packed(std::string_view word) {
  const char* data = word.data();
  const std::size_t size = word.size();
  if (size >= 4) {
    return load<std::uint32_t>(data) | load<std::uint32_t>(data + size - 4) << 32;
  }
  if (size >= 2) {
    return load<std::uint16_t>(data) | load<std::uint16_t>(data + size - 2) << 16;
  }
  return static_cast<unsigned char>(data[0]);
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * kMixA;
  return (a ^ (a >> 32)) * kMixB;
}

/// Requires: longer than kShort bytes.
std::uint64_t hash_of_long(std::string_view word) {
  const char* data = word.data();
  const char* last = data + word.size() - 8;
  std::uint64_t hash = word.size();
  for (; data < last; data += 8) hash = mixed(hash, load<std::uint64_t>(data));
  return mixed(hash, load<std::uint64_t>(last));
}

}  // namespace

WordTable::WordTable(std::size_t words_max)
    : slots_(std::bit_ceil(words_max * 2 + 2)),
      shift_(64 - std::countr_zero(slots_.size())),
      long_begin_(slots_.size()) {}

WordTable::Place WordTable::locate(std::string_view word) const {
  const bool is_short = word.size() <= kShort;
  const std::uint64_t key = is_short ? packed(word) : hash_of_long(word);
  const auto length = static_cast<std::uint32_t>(word.size());
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = mixed(key, length) >> shift_;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.length == 0) return {&slot, false};
    if (slot.key != key || slot.length != length) continue;
    if (is_short || word == std::string_view(&long_bytes_[long_begin_[at]], length)) {
      return {&slot, true};
    }
  }
}

void WordTable::add(std::string_view word, TokenId id) {
  TROUPE_ASSERT(!word.empty() && word.size() <= ~std::uint32_t{0}, "a word has a length");
  const Place place = locate(word);
  if (place.found) return;
  const auto at = static_cast<std::size_t>(place.slot - slots_.data());
  const bool is_short = word.size() <= kShort;
  slots_[at] = {is_short ? packed(word) : hash_of_long(word),
                static_cast<std::uint32_t>(word.size()), id};
  if (is_short) return;
  long_begin_[at] = long_bytes_.size();
  long_bytes_ += word;
}

TokenId WordTable::find(std::string_view word) const {
  const Place place = locate(word);
  return place.found ? place.slot->id : kNone;
}

}  // namespace troupe
