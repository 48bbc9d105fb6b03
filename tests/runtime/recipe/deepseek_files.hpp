// The tokenizers and prompt packs of DeepSeek's models, cached by `troupe model pull deepseek-v4`
// and `deepseek-v4.1`.
#pragma once

#include <string>

#include "tests/runtime/files.hpp"

namespace troupe::test {

/// `model` is "deepseek-v4" or "deepseek-v4.1".
inline std::string deepseek_tokenizer_path(const std::string& model) {
  return pulled_path(model, "tokenizer.json");
}

inline std::string deepseek_pack_path(const std::string& model) {
  return pulled_path(model, "prompt_pack.json");
}

}  // namespace troupe::test
