// The SmolLM2 model file of tests, cached by `troupe model pull smollm2`; files.hpp says what
// happens without it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/model/llama.hpp"
#include "tests/runtime/files.hpp"

namespace troupe::test {

inline std::string smollm2_path() {
  return pulled_path("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf");
}

/// Sanitizers make the real model some ten times slower: tests then do a part of their work, and
/// leave the rest to the tiny models, which take the same paths.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Requires: the file exists.
inline std::unique_ptr<LlamaModel> load_smollm2(LlamaOptions options) {
  auto file = GgufFile::open(smollm2_path());
  EXPECT_TRUE(file.ok()) << to_string(file.error());
  auto model = LlamaModel::load(*file, options);
  EXPECT_TRUE(model.ok()) << to_string(model.error());
  return std::move(*model);
}

}  // namespace troupe::test
