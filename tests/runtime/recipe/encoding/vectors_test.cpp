// The reference's prompts: text, special ranges, images and token ids of every encode vector.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/runtime/recipe/deepseek_files.hpp"
#include "tools/recipe/vector_check.hpp"

namespace troupe {
namespace {

std::string pulled(std::string_view model, PulledFile file) {
  return file == PulledFile::kTokenizer ? test::deepseek_tokenizer_path(std::string(model))
                                        : test::deepseek_pack_path(std::string(model));
}

/// Runs the vectors of a file in compat mode; how many there were.
std::uint64_t run_vectors(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  LabOptions options;
  options.compat = recipe::Compat::kDeepseek;
  options.pulled = pulled;
  auto lab = RecipeLab::open(std::move(options)).value();
  VectorCheck check(lab);
  for (const Vector& vector : read_vectors(text, recipe::Protocol::kChat).value()) {
    const Status status = check.check(vector);
    EXPECT_TRUE(status.ok()) << to_string(status.error());
    if (!status.ok()) break;
  }
  std::ostringstream report;
  check.report(report, 5);
  EXPECT_TRUE(check.failures().empty()) << report.str();
  std::uint64_t count = 0;
  for (const auto& [kind, each] : check.counts()) count += each.passed + each.failed;
  return count;
}

class EncodingVectors : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* model : {"deepseek-v4", "deepseek-v4.1"}) {
      TROUPE_NEEDS_FILE(test::deepseek_tokenizer_path(model));
      TROUPE_NEEDS_FILE(test::deepseek_pack_path(model));
    }
  }
};

TEST_F(EncodingVectors, every_prompt_is_the_reference_s) {
  const std::string path = test::shared_path("recipe/vectors/encode.jsonl");
  TROUPE_NEEDS_FILE(path);
  EXPECT_GE(run_vectors(path), 646u);
}

// tests/data/recipe: made-up requests, answered by ask_reference.py there.
TEST_F(EncodingVectors, our_own_agree_with_the_reference) {
  EXPECT_GE(
      run_vectors(test::environment_or("TROUPE_SOURCE", ".") + "/tests/data/recipe/vectors.jsonl"),
      100u);
}

}  // namespace
}  // namespace troupe
