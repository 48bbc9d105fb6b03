// The vocabulary that a GGUF file carries, as the tokenizer's plain data.
//
// Read from the keys tokenizer.ggml.{model, pre, tokens, token_type, merges, bos_token_id,
// eos_token_id, eot_token_id, eom_token_id, add_bos_token}. Only the byte-level BPE model ("gpt2")
// is known; another one is an error that names it.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/model/gguf.hpp"
#include "runtime/recipe/tokenizer/vocabulary.hpp"

namespace troupe {

Result<Vocabulary> vocabulary_of(const GgufFile& file);

}  // namespace troupe
