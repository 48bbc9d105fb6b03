// The tokenizer of SmolLM2 against two other implementations, string by string.
#include <gtest/gtest.h>

#include "runtime/model/gguf_vocabulary.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "tests/runtime/model/smollm2.hpp"
#include "tests/runtime/recipe/tokenizer/golden_json.hpp"

namespace troupe {
namespace {

class TokenizerGolden : public testing::Test {
 protected:
  void SetUp() override {
    TROUPE_NEEDS_FILE(test::smollm2_path());
    const auto file = GgufFile::open(test::smollm2_path());
    ASSERT_TRUE(file.ok()) << file.error().message;
    const auto vocabulary = vocabulary_of(**file);
    ASSERT_TRUE(vocabulary.ok()) << vocabulary.error().message;
    const auto built = BpeTokenizer::build(*vocabulary);
    ASSERT_TRUE(built.ok()) << built.error().message;
    tokenizer_ = *built;
  }

  void load(const std::string& relative) {
    const auto path = test::shared_path(relative);
    TROUPE_NEEDS_FILE(path);
    test::parse_file(path, document_);
  }

  static std::string text_of(const rapidjson::Value& row) {
    return {row["text"].GetString(), row["text"].GetStringLength()};
  }
  static std::vector<TokenId> ids_of(const rapidjson::Value& list) {
    std::vector<TokenId> ids;
    for (const auto& id : list.GetArray()) ids.push_back(TokenId(id.GetInt()));
    return ids;
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
  rapidjson::Document document_;
};

TEST_F(TokenizerGolden, equals_llama_cpp_on_every_string) {
  load("model/golden_smollm2/golden_llamacpp.json");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(document_["tokenize"].Size(), 119u);
  for (const auto& row : document_["tokenize"].GetArray()) {
    const std::string text = text_of(row);
    EXPECT_EQ(tokenizer_->encode(text, true), ids_of(row["ids_special_parsed"])) << text;
    EXPECT_EQ(tokenizer_->encode(text), ids_of(row["ids_plain"])) << text;
  }
}

// transformers 5.24 leaves out the step that takes digits apart when it reads a GGUF file, which
// shows in one string (model/README.md, "Surprises"); there llama.cpp is right.
TEST_F(TokenizerGolden, equals_transformers_on_all_strings_but_one) {
  load("model/golden_smollm2/golden_fp32.json");
  if (IsSkipped() || HasFatalFailure()) return;
  int equal = 0;
  for (const auto& row : document_["tokenize"].GetArray()) {
    const std::string text = text_of(row);
    const bool same = tokenizer_->encode(text, true) == ids_of(row["ids_special_parsed"]);
    EXPECT_TRUE(same || text == "½ ² ③ Ⅷ ٣") << text;
    equal += same;
  }
  EXPECT_EQ(equal, 118);
  for (const auto& prompt : document_["prompts"].GetArray()) {
    EXPECT_EQ(tokenizer_->decode(ids_of(prompt["greedy64"]), true),
              std::string(prompt["text"].GetString(), prompt["text"].GetStringLength()));
  }
}

TEST_F(TokenizerGolden, knows_what_the_file_says) {
  EXPECT_EQ(tokenizer_->size(), 49152u);
  EXPECT_EQ(tokenizer_->bos(), TokenId(1));
  EXPECT_EQ(tokenizer_->eos(), TokenId(2));
  EXPECT_FALSE(tokenizer_->add_bos());
  EXPECT_EQ(std::vector(tokenizer_->ends().begin(), tokenizer_->ends().end()),
            (std::vector{TokenId(2), TokenId(0)}));
  EXPECT_TRUE(tokenizer_->is_control(TokenId(1)));
  EXPECT_TRUE(tokenizer_->is_control(TokenId(49152)));
  EXPECT_FALSE(tokenizer_->is_control(TokenId(33)));
}

}  // namespace
}  // namespace troupe
