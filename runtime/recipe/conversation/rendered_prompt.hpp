// A prompt as an encoding writes it: text, and which byte ranges of it are control tokens.
//
// Why ranges and not one text: a user may type the spelling of a control token. Only what lies in
// `specials` becomes one id; everything between is ordinary text, encoded without the added
// vocabulary. Neighbouring ranges do not merge, and neither do the texts around a range.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/recipe/conversation/conversation.hpp"

namespace troupe::recipe {

struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< exclusive

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct RenderedPrompt {
  std::string text;
  std::vector<ByteRange> specials;  ///< ascending, disjoint; each spells exactly one added token
  std::vector<ImageSource> images;  ///< in the order of their placeholders
};

}  // namespace troupe::recipe
