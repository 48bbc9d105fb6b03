// Where tests find the SmolLM2 model file and its golden data, and what happens if they do not.
//
// The model: cached by `troupe model pull smollm2`. The goldens: TROUPE_SHARED, by default
// ../shared beside the source tree. A developer without them sees the test skipped and why; in CI
// (environment variable CI) the same is a failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "runtime/model/llama.hpp"

namespace troupe::test {

inline std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

inline std::string smollm2_path() {
  const std::string cache =
      environment_or("XDG_CACHE_HOME", environment_or("HOME", "") + "/.cache");
  return environment_or("TROUPE_CACHE", cache + "/troupe") +
         "/models/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
}

inline std::string shared_path(const std::string& name) {
  const std::string beside = environment_or("TROUPE_SOURCE", ".") + "/../shared";
  return environment_or("TROUPE_SHARED", beside) + "/" + name;
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

inline bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

/// Requires: the file exists.
inline std::unique_ptr<LlamaModel> load_smollm2(LlamaOptions options) {
  auto file = GgufFile::open(smollm2_path());
  EXPECT_TRUE(file.ok()) << to_string(file.error());
  auto model = LlamaModel::load(*file, options);
  EXPECT_TRUE(model.ok()) << to_string(model.error());
  return std::move(*model);
}

}  // namespace troupe::test

/// Ends the test unless the file is there.
#define TROUPE_NEEDS_FILE(path)                                                      \
  do {                                                                               \
    if (const std::string needed_ = (path); !::troupe::test::exists(needed_)) {      \
      if (std::getenv("CI") != nullptr) FAIL() << "in CI there must be " << needed_; \
      GTEST_SKIP() << "SKIPPED, nothing was checked: there is no " << needed_;       \
    }                                                                                \
  } while (false)
