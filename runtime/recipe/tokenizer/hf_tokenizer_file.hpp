// Reads `tokenizer.json`, the Hugging Face format of tokenizers, into a Vocabulary.
//
// Only byte-level BPE is read, and only what we do exactly: a pre-tokenizer is recognized by its
// structure and by the text of its expressions (hf_pre_tokenizer.hpp). What we do not know is
// refused by name rather than guessed, because a wrong split gives wrong ids without a sign.
//
// Rules:
//   1. Ids are dense but for a few holes: no id is above twice the number of tokens + 4,096. Holes
//      are unused tokens.
//   2. A token of the added vocabulary is kControl if the file calls it special, else kAdded. It
//      may stand in the model's vocabulary too, with the same id, but no merge makes one: plain
//      encoding can then not yield it.
//   3. The file does not say which tokens begin and end a text (tokenizer_config.json would): they
//      are found by the spellings that the known families use. `add_bos` is what the file's
//      template does.
//
// Hostile files: any JSON gives a Vocabulary or an error, in memory and time linear in its size.
// Threads: pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"
#include "runtime/recipe/tokenizer/vocabulary.hpp"

namespace troupe {

/// kCorrupt: not JSON, or contradicts itself; kUnsupported: a tokenizer that we do not do.
Result<Vocabulary> read_hf_tokenizer(std::string_view json);

/// From a file, of at most 256 MB. The error names the path.
Result<std::shared_ptr<const Tokenizer>> load_tokenizer_file(const std::string& path);

}  // namespace troupe
