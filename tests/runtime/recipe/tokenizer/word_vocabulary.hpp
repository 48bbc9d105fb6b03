// A vocabulary whose tokens show where words begin and end: every pair of bytes has a
// merge, so that a word pairs its bytes up from its start, and other words give other ids.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"

namespace troupe::test {

/// All 256 bytes in GPT-2's alphabet, as ids 0 to 255.
inline std::vector<std::string> byte_letters() {
  std::vector<std::string> letters;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool same = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    std::string letter;
    append_utf8(letter, same ? byte : next++);
    letters.push_back(letter);
  }
  return letters;
}

/// With `bos`, prompts begin with the token <s>, the last one.
inline std::shared_ptr<const Tokenizer> word_tokenizer(std::string family, bool nfc,
                                                       bool bos = false) {
  Vocabulary vocabulary;
  const auto letters = byte_letters();
  vocabulary.tokens = letters;
  for (const std::string& left : letters) {
    for (const std::string& right : letters) {
      vocabulary.tokens.push_back(left + right);
      vocabulary.merges.push_back(left + " " + right);
    }
  }
  vocabulary.kinds.assign(vocabulary.tokens.size(), TokenKind::kNormal);
  if (bos) {
    vocabulary.bos = TokenId(static_cast<std::int32_t>(vocabulary.tokens.size()));
    vocabulary.tokens.push_back("<s>");
    vocabulary.kinds.push_back(TokenKind::kControl);
    vocabulary.add_bos = true;
  }
  vocabulary.pre_tokenizer = std::move(family);
  vocabulary.nfc = nfc;
  vocabulary.whole_words = false;
  return BpeTokenizer::build(vocabulary).value();
}

}  // namespace troupe::test
