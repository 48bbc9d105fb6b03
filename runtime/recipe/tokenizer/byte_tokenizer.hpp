// A vocabulary that needs no model: ids 0 to 255 are the bytes, control tokens follow.
//
// Why: tests, the scripted engine and simulations need a tokenizer that any text round-trips
// through and whose ids can be read by eye.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

class ByteTokenizer : public Tokenizer {
 public:
  /// Control tokens: <|endoftext|> = 256, <|im_start|> = 257 (bos), <|im_end|> = 258 (eos), then
  /// `more_control` from 259 on. The first and the third end a turn.
  static std::shared_ptr<const Tokenizer> build(std::span<const std::string> more_control = {});

  std::size_t cut_after(std::string_view text, std::size_t from) const override;

 private:
  explicit ByteTokenizer(Contents contents);
  void encode_text(std::string_view text, std::vector<TokenId>& ids) const override;
};

}  // namespace troupe
