// Where tests find files that are not in the repository, and what happens if they are not there.
//
// Pulled files lie in the model cache (`troupe model pull`), golden data and vectors under
// TROUPE_SHARED, by default ../shared beside the source tree. A developer without them sees the
// test skipped and why; in CI (environment variable CI) the same is a failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace troupe::test {

inline std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// A file of a model that `troupe model pull NAME` put into the cache.
inline std::string pulled_path(const std::string& model, const std::string& file) {
  const std::string cache =
      environment_or("XDG_CACHE_HOME", environment_or("HOME", "") + "/.cache");
  return environment_or("TROUPE_CACHE", cache + "/troupe") + "/models/" + model + "/" + file;
}

inline std::string shared_path(const std::string& name) {
  const std::string beside = environment_or("TROUPE_SOURCE", ".") + "/../shared";
  return environment_or("TROUPE_SHARED", beside) + "/" + name;
}

inline bool exists(const std::string& path) {
  return std::filesystem::exists(path);
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
