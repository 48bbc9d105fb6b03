#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

#include <algorithm>
#include <utility>

namespace troupe {

std::shared_ptr<const Tokenizer> ByteTokenizer::build(std::span<const std::string> more_control) {
  constexpr TokenId kEndOfText(256);
  constexpr TokenId kStart(257);
  constexpr TokenId kEnd(258);
  Contents contents{.bos = kStart, .eos = kEnd, .ends = {kEnd, kEndOfText}};
  for (int byte = 0; byte < 256; ++byte) {
    contents.pieces.emplace_back(1, static_cast<char>(byte));
    contents.kinds.push_back(TokenKind::kNormal);
  }
  std::vector<std::string> spellings = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  spellings.insert(spellings.end(), more_control.begin(), more_control.end());
  for (const std::string& spelling : spellings) {
    contents.pieces.push_back(spelling);
    contents.kinds.push_back(TokenKind::kControl);
  }
  return std::shared_ptr<const Tokenizer>(new ByteTokenizer(std::move(contents)));
}

ByteTokenizer::ByteTokenizer(Contents contents) : Tokenizer(std::move(contents)) {}

void ByteTokenizer::encode_text(std::string_view text, std::vector<TokenId>& ids) const {
  for (const char c : text) ids.push_back(TokenId(static_cast<unsigned char>(c)));
}

std::size_t ByteTokenizer::cut_after(std::string_view text, std::size_t from) const {
  return std::min(from, text.size());
}

}  // namespace troupe
