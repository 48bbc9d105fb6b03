// A byte-level BPE tokenizer from plain data: GPT-2's scheme, as SmolLM2, Llama 3 and Qwen use it.
//
// Text is split into words (pre_tokenizer.hpp), a word starts as one token a byte, and neighbours
// are merged by rank (bpe_merges.hpp). Nothing is normalized: the bytes that come in are the bytes
// that come out of decode(), also if they are not UTF-8.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "runtime/recipe/tokenizer/bpe_merges.hpp"
#include "runtime/recipe/tokenizer/pre_tokenizer.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"
#include "runtime/recipe/tokenizer/word_table.hpp"

namespace troupe {

class BpeTokenizer : public Tokenizer {
 public:
  /// kCorrupt if the vocabulary contradicts itself (a merge of tokens that do not exist, ids out
  /// of range), kUnsupported if its pre-tokenizer is unknown. The message says where.
  static Result<std::shared_ptr<const Tokenizer>> build(const Vocabulary& vocabulary);

  std::size_t cut_after(std::string_view text, std::size_t from) const override;

 private:
  struct Parts {
    PreTokenizer split;
    std::vector<BpeMerges::Merge> merges;
    std::array<TokenId, 256> byte_tokens;  // -1 where the vocabulary has none
  };
  BpeTokenizer(Contents contents, Parts parts);
  static Status add_merges(const Vocabulary& vocabulary, Parts& parts);
  void find_whole_words(const Vocabulary& vocabulary);
  void encode_text(std::string_view text, std::vector<TokenId>& ids) const override;
  void merge_word(std::string_view word, std::vector<TokenId>& symbols) const;

  PreTokenizer split_;
  BpeMerges merges_;
  std::array<TokenId, 256> byte_tokens_;
  WordTable words_;  // that encode to one token
};

}  // namespace troupe
