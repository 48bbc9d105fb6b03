// Places at which a text may be cut so that encoding the parts apart gives the same ids.
//
// Why: one long message can then be encoded by all cores. A cut is taken only where the
// pre-tokenizer is proven to end a word whatever stands before and after.
//
// Proof. Let p be a place between two characters a and b (a before p), in a text that is split by
// calling first_word() again and again. If (1) no alternative of the family matches a text that
// holds a directly before b, then a word ends at p. What stands after p is then split as a text of
// its own, because no expression looks behind. What stands before p is too, if also (2) no decision
// before p is different when the text ends at p instead of going on with b. An alternative that has
// consumed up to a next tests b against a class that b is not in (by 1), and the end of the text
// fails the same test. The one other test is (?!\S), which stands after white space only: with a
// not white space it is never made at p. In deepseek-v3, where a piece of the first two splits
// ends, the third sees the end of the text in any case, so that there a may be white space. The
// rules, with (1) read off the expressions of pre_tokenizer.hpp and deepseek_words.hpp:
//
//   all         a not white space, b white space but no line end
//               a number, b no number (of numbers only runs of numbers are made)
//   all others  a letter, b no letter
//   deepseek-v3 a letter or mark, b neither
//               of a and b one is of the second split, [一-龥぀-ゟ゠-ヿ], and the other is
//               not a no number, b a number
//
// Only whole characters count. p is at a byte that no character goes on with, so that the bytes
// on both sides of p are taken apart in the same way without the other side.
//
// In a text that is brought to normal form C first, both a and b must be ASCII: such a b joins
// nothing before it, so that the form of the whole is that of the parts, and a stays as it is.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/recipe/tokenizer/char_class.hpp"

namespace troupe {

/// May a text be cut between these two neighbours?
using CutRule = bool (*)(const Char& before, const Char& after);

bool cuts_words(const Char& before, const Char& after);     ///< of all families but
bool cuts_deepseek(const Char& before, const Char& after);  ///< deepseek-v3

/// The first such place at or after `from`, which is not 0; text.size() if there is none.
std::size_t next_cut(std::string_view text, std::size_t from, CutRule rule, bool ascii_only);

}  // namespace troupe
