// Where tests find big data: the shared folder and the model cache.
//
// Absent data skips a test loudly, and fails it where CI is set.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace troupe::test {

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// TROUPE_SHARED, or ../shared beside the source tree.
inline std::filesystem::path shared_path(const std::string& relative) {
  const std::string given = environment("TROUPE_SHARED");
  const std::filesystem::path source = environment("TROUPE_SOURCE");
  return (given.empty() ? source / ".." / "shared" : std::filesystem::path(given)) / relative;
}

/// Where `troupe model pull smollm2` puts the file.
inline std::filesystem::path smollm2_path() {
  std::filesystem::path cache = environment("TROUPE_CACHE");
  if (cache.empty() && !environment("XDG_CACHE_HOME").empty()) {
    cache = std::filesystem::path(environment("XDG_CACHE_HOME")) / "troupe";
  }
  if (cache.empty()) cache = std::filesystem::path(environment("HOME")) / ".cache" / "troupe";
  return cache / "models" / "smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf";
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace troupe::test

/// Ends the test, as skipped or as failed, if the file is not there.
#define TROUPE_NEED_FILE(path, how_to_get_it)                                          \
  do {                                                                                 \
    if (!std::filesystem::exists(path)) {                                              \
      if (!::troupe::test::environment("CI").empty()) FAIL() << "missing: " << (path); \
      GTEST_SKIP() << "SKIPPED, missing " << (path) << ": " << (how_to_get_it);        \
    }                                                                                  \
  } while (false)
