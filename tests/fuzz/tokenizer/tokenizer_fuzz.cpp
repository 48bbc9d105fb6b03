// Any text through every pre-tokenizer family: encode never crashes, decode gives the text back,
// no control token comes out of plain text, and a text that is cut gives the ids of the whole.
#include <algorithm>
#include <array>
#include <memory>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/text/utf8.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace {

using troupe::TokenId;
using troupe::TokenKind;

troupe::Vocabulary vocabulary(std::string pre) {
  troupe::Vocabulary out;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool same = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    std::string letter;
    troupe::append_utf8(letter, same ? byte : next++);
    out.tokens.push_back(letter);
  }
  out.merges = {"a a", "aa aa", "Ġ a", "Ġ Ġ", "' s"};
  for (const auto* merged : {"aa", "aaaa", "Ġa", "ĠĠ", "'s"}) out.tokens.emplace_back(merged);
  out.kinds.assign(out.tokens.size(), TokenKind::kNormal);
  out.tokens.insert(out.tokens.end(), {"<|im_start|>", "<|im_end|>"});
  out.kinds.insert(out.kinds.end(), 2, TokenKind::kControl);
  out.pre_tokenizer = std::move(pre);
  return out;
}

using Tokenizers = std::array<std::shared_ptr<const troupe::Tokenizer>, 6>;

Tokenizers build_all() {
  const auto bpe = [](const char* pre) {
    return troupe::BpeTokenizer::build(vocabulary(pre)).value();
  };
  return {bpe("gpt-2"), bpe("smollm"),      bpe("llama-bpe"),
          bpe("qwen2"), bpe("deepseek-v3"), troupe::ByteTokenizer::build()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Tokenizers tokenizers = build_all();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& tokenizer : tokenizers) {
    const auto plain = tokenizer->encode(text);
    TROUPE_ASSERT(tokenizer->decode(plain) == text, "plain text round-trips");
    TROUPE_ASSERT(std::none_of(plain.begin(), plain.end(),
                               [&](TokenId id) { return tokenizer->is_control(id); }),
                  "plain text holds no control tokens");
    for (std::size_t from = 1; from < size; from += 7) {
      const std::size_t cut = tokenizer->cut_after(text, from);
      auto parts = tokenizer->encode(text.substr(0, cut));
      tokenizer->encode_plain(text.substr(cut), parts);
      TROUPE_ASSERT(parts == plain, "cutting a text does not change its ids");
      if (from > 200) break;
    }
    const auto special = tokenizer->encode(text, true);
    TROUPE_ASSERT(tokenizer->decode(special, true) == text, "special text round-trips");
  }
  return 0;
}
