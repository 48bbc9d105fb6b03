// What the reference refuses, word for word, and how many tokens it allows. What it accepts is
// compared together with its prompt: tests/runtime/recipe/encoding/vectors_test.cpp.
#include "tests/runtime/recipe/vector_run.hpp"

namespace troupe {
namespace {

TEST(RequestVectors, every_error_is_found_with_the_words_of_the_reference) {
  const std::string path = test::shared_path("recipe/vectors/error.jsonl");
  TROUPE_NEEDS_FILE(path);
  EXPECT_GE(test::run_vectors(path, test::packs_only()), 398u);
}

TEST(RequestVectors, limits_are_resolved_as_by_the_reference) {
  const std::string path = test::shared_path("recipe/vectors/limits.jsonl");
  TROUPE_NEEDS_FILE(path);
  EXPECT_GE(test::run_vectors(path, test::packs_only()), 57u);
}

}  // namespace
}  // namespace troupe
