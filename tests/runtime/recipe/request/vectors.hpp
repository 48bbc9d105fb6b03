// The vectors that pin the reference's behaviour (recipe SPEC 8): one JSON object a line, found
// through TROUPE_SHARED, by default ../shared beside the source tree. A developer without them sees
// the test skipped and why; in CI (environment variable CI) the same is a failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe::test {

inline std::string environment_or(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

inline std::string shared_path(const std::string& name) {
  const std::string beside = environment_or("TROUPE_SOURCE", ".") + "/../shared";
  return environment_or("TROUPE_SHARED", beside) + "/" + name;
}

/// One vector, or a part of it.
class Vector {
 public:
  using Index = JsonTape::Index;

  Vector(const JsonTape& tape, Index at) : tape_(&tape), at_(at) {}

  bool is_there() const { return at_ != JsonTape::kNone; }
  bool is_null() const { return !is_there() || tape_->kind(at_) == JsonKind::kNull; }
  bool is_true() const { return is_there() && tape_->kind(at_) == JsonKind::kTrue; }
  std::string text() const { return is_there() ? std::string(tape_->text(at_)) : ""; }
  std::uint64_t number() const { return json_unsigned(tape_->text(at_)).value_or(0); }
  double real() const { return json_number_value(tape_->text(at_)); }
  std::string json() const {
    std::string out;
    if (is_there()) tape_->print(at_, kCompactJson, out);
    return out;
  }
  Vector operator[](std::string_view name) const {
    return {*tape_, is_there() ? tape_->find(at_, name) : JsonTape::kNone};
  }
  template <class F>
  void each(F f) const {
    tape_->each(at_, [&](std::string_view, Index value) { f(Vector(*tape_, value)); });
  }

  /// The body that a client sends.
  std::string body() const {
    const Vector request = (*this)["input"]["request_text"];
    return request.is_there() ? request.text() : (*this)["input"]["request"].json();
  }

  Protocol protocol() const {
    const std::string name = (*this)["protocol"].text();
    if (name == "responses") return Protocol::kResponses;
    return name == "messages" ? Protocol::kMessages : Protocol::kChat;
  }

 private:
  const JsonTape* tape_;
  Index at_;
};

/// f(vector) for each line of a file in recipe/vectors; how many there were.
template <class F>
std::size_t each_vector(const std::string& path, F f) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const auto document = JsonDocument::parse(line);
    if (!document) {
      ADD_FAILURE() << path << ":" << count + 1 << " is no JSON";
      continue;
    }
    f(Vector(document->tape(), JsonDocument::kRoot));
  }
  return count;
}

}  // namespace troupe::recipe::test

/// Ends the test unless the file is there.
#define TROUPE_NEEDS_SHARED(path)                                                    \
  do {                                                                               \
    if (const std::string needed_ = (path); !std::filesystem::exists(needed_)) {     \
      if (std::getenv("CI") != nullptr) FAIL() << "in CI there must be " << needed_; \
      GTEST_SKIP() << "SKIPPED, nothing was checked: there is no " << needed_;       \
    }                                                                                \
  } while (false)
