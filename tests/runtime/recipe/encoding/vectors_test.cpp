// The reference's prompts: what requests become, text, special ranges, images and token ids of
// every encode vector.
#include "tests/runtime/recipe/vector_run.hpp"

namespace troupe {
namespace {

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
  EXPECT_GE(test::run_vectors(path, test::pulled_files()), 646u);
}

// tests/data/recipe: made-up requests, answered by ask_reference.py there.
TEST_F(EncodingVectors, our_own_agree_with_the_reference) {
  const std::string source = test::environment_or("TROUPE_SOURCE", ".");
  EXPECT_GE(test::run_vectors(source + "/tests/data/recipe/vectors.jsonl", test::pulled_files()),
            100u);
}

}  // namespace
}  // namespace troupe
