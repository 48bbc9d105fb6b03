// Splits text into the words that byte-pair merges never cross.
//
// Why: each model family was trained with a regular expression that does this split; ids are right
// only if ours is the same. The expressions are few and simple, so each is a hand-written scanner:
// linear in the text whatever it holds, and without a regex engine's surprises on hostile input.
//
//   gpt-2      's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   smollm     every \p{N} alone; what lies between is split as by gpt-2
//   llama-bpe  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//               ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//   qwen2      as llama-bpe, with \p{N} instead of \p{N}{1,3}
//   deepseek-v3  three splits, see deepseek_words.hpp
//
// The classes are those of char_class.hpp; a byte that belongs to no character counts as one that
// is neither letter, number nor space.
//
// Invariant: the words, one after the other, are the text.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/recipe/tokenizer/word_cuts.hpp"

namespace troupe {

/// The length in bytes of the first word, 1 or more. Requires: !text.empty().
/// The words of a text are found by calling it on what is left, again and again.
using WordSplit = std::size_t (*)(std::string_view text);

struct PreTokenizer {
  WordSplit first_word = nullptr;
  CutRule may_cut = nullptr;  ///< where words end whatever stands around (word_cuts.hpp)
  bool whole_words = false;   ///< a word that is a token is taken as it is, without merging
};

/// By the name that model files use; an unknown one is kUnsupported and named.
Result<PreTokenizer> find_pre_tokenizer(std::string_view name);

}  // namespace troupe
