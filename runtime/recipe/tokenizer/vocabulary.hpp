// A tokenizer's vocabulary as plain data, however it was stored.
//
// Why: model files differ (GGUF, tokenizer.json), the tokenizer does not care. An adapter beside
// each file format fills this struct (runtime/model/gguf_vocabulary.hpp, hf_tokenizer_file.hpp).
//
// Normal tokens are spelled in the byte-level alphabet of GPT-2, in which every byte is a printable
// character (a space is "Ġ"); added tokens (control, added, user-defined) are spelled as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/base/strong.hpp"

namespace troupe {

enum class TokenKind : std::uint8_t {
  kNormal,
  kControl,      ///< structure, never text: <|im_start|>
  kAdded,        ///< text, but one token only where the full vocabulary is asked for: <think>
  kUserDefined,  ///< text that is always one token, in GGUF files
  kUnused,
};

struct Vocabulary {
  std::vector<std::string> tokens;  ///< the index is the id
  std::vector<TokenKind> kinds;     ///< same length
  std::vector<std::string> merges;  ///< "left right", best first
  std::string pre_tokenizer;        ///< a name that pre_tokenizer.hpp knows
  std::optional<bool> whole_words;  ///< see PreTokenizer; absent: as that name has it
  bool nfc = false;                 ///< texts are brought to Unicode's normal form C first
  std::vector<TokenId> match_late;  ///< added tokens looked for in what the others leave over
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::vector<TokenId> ends;  ///< every token after which a turn is over, eos included
  bool add_bos = false;       ///< a prompt starts with bos
};

}  // namespace troupe
