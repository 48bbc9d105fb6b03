#include <algorithm>
#include <array>

#include "runtime/recipe/tokenizer/char_class.hpp"

namespace troupe {
namespace {

struct Range {
  char32_t first;
  char32_t last;
  CharClasses kind;
};

/// Ascending. What Unicode 15.1 and 16 assigned, by general category.
constexpr std::array kLater = std::to_array<Range>({
    {0x897, 0x897, kMark},       {0x1B4E, 0x1B4F, kSign},     {0x1B7F, 0x1B7F, kSign},
    {0x1C89, 0x1C8A, kLetter},   {0x2427, 0x2429, kSign},     {0x2FFC, 0x2FFF, kSign},
    {0x31E4, 0x31E5, kSign},     {0x31EF, 0x31EF, kSign},     {0xA7CB, 0xA7CD, kLetter},
    {0xA7DA, 0xA7DC, kLetter},   {0x105C0, 0x105F3, kLetter}, {0x10D40, 0x10D49, kNumber},
    {0x10D4A, 0x10D65, kLetter}, {0x10D69, 0x10D6D, kMark},   {0x10D6E, 0x10D6E, kSign},
    {0x10D6F, 0x10D85, kLetter}, {0x10D8E, 0x10D8F, kSign},   {0x10EC2, 0x10EC4, kLetter},
    {0x10EFC, 0x10EFC, kMark},   {0x11380, 0x11389, kLetter}, {0x1138B, 0x1138B, kLetter},
    {0x1138E, 0x1138E, kLetter}, {0x11390, 0x113B5, kLetter}, {0x113B7, 0x113B7, kLetter},
    {0x113B8, 0x113C0, kMark},   {0x113C2, 0x113C2, kMark},   {0x113C5, 0x113C5, kMark},
    {0x113C7, 0x113CA, kMark},   {0x113CC, 0x113D0, kMark},   {0x113D1, 0x113D1, kLetter},
    {0x113D2, 0x113D2, kMark},   {0x113D3, 0x113D3, kLetter}, {0x113D4, 0x113D5, kSign},
    {0x113D7, 0x113D8, kSign},   {0x113E1, 0x113E2, kMark},   {0x116D0, 0x116E3, kNumber},
    {0x11BC0, 0x11BE0, kLetter}, {0x11BE1, 0x11BE1, kSign},   {0x11BF0, 0x11BF9, kNumber},
    {0x11F5A, 0x11F5A, kMark},   {0x13460, 0x143FA, kLetter}, {0x16100, 0x1611D, kLetter},
    {0x1611E, 0x1612F, kMark},   {0x16130, 0x16139, kNumber}, {0x16D40, 0x16D6C, kLetter},
    {0x16D6D, 0x16D6F, kSign},   {0x16D70, 0x16D79, kNumber}, {0x18CFF, 0x18CFF, kLetter},
    {0x1CC00, 0x1CCEF, kSign},   {0x1CCF0, 0x1CCF9, kNumber}, {0x1CD00, 0x1CEB3, kSign},
    {0x1E5D0, 0x1E5ED, kLetter}, {0x1E5EE, 0x1E5EF, kMark},   {0x1E5F0, 0x1E5F0, kLetter},
    {0x1E5F1, 0x1E5FA, kNumber}, {0x1E5FF, 0x1E5FF, kSign},   {0x1F8B2, 0x1F8BB, kSign},
    {0x1F8C0, 0x1F8C1, kSign},   {0x1FA89, 0x1FA89, kSign},   {0x1FA8F, 0x1FA8F, kSign},
    {0x1FABE, 0x1FABE, kSign},   {0x1FAC6, 0x1FAC6, kSign},   {0x1FADC, 0x1FADC, kSign},
    {0x1FADF, 0x1FADF, kSign},   {0x1FAE9, 0x1FAE9, kSign},   {0x1FBCB, 0x1FBEF, kSign},
    {0x2EBF0, 0x2EE5D, kLetter},
});

}  // namespace

CharClasses later_class_of(char32_t code) {
  const auto above =
      std::upper_bound(kLater.begin(), kLater.end(), code,
                       [](char32_t c, const Range& range) { return c < range.first; });
  if (above == kLater.begin()) return kOther;
  const Range& range = *(above - 1);
  return code <= range.last ? range.kind : kOther;
}

}  // namespace troupe
