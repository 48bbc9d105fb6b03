// Chats with the real vocabulary: the ids that another implementation gives.
#include <gtest/gtest.h>

#include "actors/recipe/recipe_preparer.hpp"
#include "runtime/model/gguf_vocabulary.hpp"
#include "runtime/recipe/text/json_writer.hpp"
#include "runtime/recipe/tokenizer/bpe_tokenizer.hpp"
#include "tests/runtime/model/smollm2.hpp"
#include "tests/runtime/recipe/tokenizer/golden_json.hpp"

namespace troupe {
namespace {

std::string chat_of(std::string_view text) {
  JsonWriter json;
  json.open_object().key("messages").open_array().open_object();
  json.key("role").text("user").key("content").text(text);
  json.close_object().close_array().close_object();
  return json.take();
}

TEST(RecipeGolden, ChatsOfTheRealModelHaveEqualIds) {
  const auto path = test::shared_path("model/golden_smollm2/golden_fp32.json");
  TROUPE_NEEDS_FILE(path);
  TROUPE_NEEDS_FILE(test::smollm2_path());
  const auto file = GgufFile::open(test::smollm2_path()).value();
  const auto name =
      recipe::recognize_encoding(file->string_value("tokenizer.chat_template").value()).value();
  const RecipePreparer preparer(
      {{"smollm2", BpeTokenizer::build(vocabulary_of(*file).value()).value(),
        recipe::make_encoding(name, nullptr).value(), recipe::ModelVersion::kChatml, 8192}},
      "fp");
  rapidjson::Document golden;
  test::parse_file(path, golden);
  int chats = 0;
  for (const auto& row : golden["prompts"].GetArray()) {
    if (std::string_view(row["kind"].GetString()) != "chat") continue;
    ++chats;
    std::vector<TokenId> expected;
    for (const auto& id : row["ids"].GetArray()) expected.push_back(TokenId(id.GetInt()));
    HttpArrived arrived;
    arrived.path = "/v1/chat/completions";
    arrived.body = chat_of(row["prompt"].GetString());
    EXPECT_EQ(preparer.prepare(arrived, RequestId(1), nullptr).value().prompt, expected)
        << arrived.body;
  }
  EXPECT_EQ(chats, 5);
}

}  // namespace
}  // namespace troupe
