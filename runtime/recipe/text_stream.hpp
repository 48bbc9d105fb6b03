// From tokens to text that can be sent: one choice of one request, token by token.
//
// Why: tokens are bytes, not characters. One may end inside a character or inside what becomes a
// stop string. What is sent cannot be taken back, so such ends are held until it is clear.
//
// Invariants:
//   1. The pieces that push() and finish() return are whole UTF-8 characters; joined they are the
//      text of the choice, the same for every way to group tokens into steps.
//   2. Bytes that are no character become U+FFFD, one for each maximal subpart, and are counted.
//   3. Text is cut before the first stop string (rule: stop_matcher.hpp), which may begin and end
//      anywhere in the tokens. After it nothing is returned.
//   4. At most 3 bytes and the longest stop string are held back, and only while they must be.
//   5. Control tokens are no text: they add nothing and end nothing.
//
// Threads: one owner. Ownership: keeps the tokenizer alive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/stop_matcher.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

class TextStream {
 public:
  /// Requires: no stop string is empty; each is UTF-8.
  TextStream(std::shared_ptr<const Tokenizer> tokenizer, std::vector<std::string> stops);

  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  /// The text that this token sets free; often one token late, empty after a stop.
  std::string push(TokenId id);

  /// The generation is over: the text that was held back. An unfinished character is one U+FFFD.
  std::string finish();

  /// A stop string was found.
  bool stopped() const { return stopped_; }
  /// Which one. Requires: stopped().
  const std::string& stop_string() const { return stops_.found(); }
  /// How many U+FFFD stand for bytes that were no character.
  std::uint64_t replaced() const { return replaced_; }
  /// Bytes returned so far.
  std::uint64_t bytes_sent() const { return bytes_sent_; }

 private:
  void add_characters(bool at_end);
  void add_text(std::string_view text);
  std::string release();

  std::shared_ptr<const Tokenizer> tokenizer_;
  StopMatcher stops_;
  std::string raw_;   // bytes that are not yet a character: at most 3 between calls
  std::string held_;  // characters that may begin a stop string
  bool stopped_ = false;
  std::uint64_t replaced_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace troupe
