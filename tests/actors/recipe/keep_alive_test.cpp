// Signs of life in each protocol's stream (shared serving/CLIENTS.md, "keepalive").
#include <gtest/gtest.h>

#include "actors/recipe/recipe_answer.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe {
namespace {

WriterOfRow stream_of(recipe::Protocol protocol, std::uint32_t choices = 1) {
  RecipeAnswerOptions options;
  options.parsing.initial = recipe::InitialStage::kContent;
  options.answer.protocol = protocol;
  options.answer.thinking = false;
  options.identity.id = "id_1";
  options.identity.model = "bytes";
  options.tokenizer = ByteTokenizer::build();
  options.stream = true;
  options.prompt_tokens = 11;
  options.choices = choices;
  return RecipeAnswer(options).open();
}

RowTokens letter() {
  RowTokens row;
  row.tokens = {TokenId('a')};
  return row;
}

/// Names of events in order, by their `event:` lines.
std::vector<std::string> names(const std::string& stream) {
  std::vector<std::string> found;
  for (auto at = stream.find("event: "); at != std::string::npos;
       at = stream.find("event: ", at + 1)) {
    found.push_back(stream.substr(at + 7, stream.find('\n', at) - at - 7));
  }
  return found;
}

TEST(StreamKeepAlive, OpenAisOlderProtocolsGetAComment) {
  for (const auto protocol : {recipe::Protocol::kChat, recipe::Protocol::kCompletions}) {
    for (const std::uint32_t choices : {1u, 2u}) {
      const auto writer = stream_of(protocol, choices);
      std::string out;
      writer->keep_alive(out);
      EXPECT_EQ(out, ": keep-alive\n\n") << "before the first chunk as well";
      writer->feed(letter(), out);
      std::string later;
      writer->keep_alive(later);
      EXPECT_EQ(later, ": keep-alive\n\n");
    }
  }
}

TEST(StreamKeepAlive, MessagesPingsBehindItsStart) {
  const auto writer = stream_of(recipe::Protocol::kMessages);
  std::string out;
  writer->keep_alive(out);
  writer->keep_alive(out);
  const auto waiting = names(out);
  ASSERT_GE(waiting.size(), 3u);
  EXPECT_EQ(waiting.front(), "message_start");
  EXPECT_EQ(waiting[waiting.size() - 1], "ping");
  EXPECT_EQ(waiting[waiting.size() - 2], "ping");
  EXPECT_NE(out.find("event: ping\ndata: {\"type\":\"ping\"}\n\n"), std::string::npos);
  writer->feed(letter(), out);
  writer->finish(Finish::kStop, 1, out);
  EXPECT_EQ(names(out).back(), "message_stop");
}

TEST(StreamKeepAlive, ResponsesRepeatsThatItIsInProgress) {
  const auto writer = stream_of(recipe::Protocol::kResponses);
  std::string out;
  writer->keep_alive(out);
  writer->feed(letter(), out);
  writer->keep_alive(out);
  writer->finish(Finish::kStop, 1, out);
  const auto all = names(out);
  EXPECT_EQ(all[0], "response.created");
  EXPECT_EQ(std::count(all.begin(), all.end(), "response.in_progress"), 3);
  EXPECT_EQ(all.back(), "response.completed");
  std::size_t at = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string numbered = "\"sequence_number\":" + std::to_string(i);
    at = out.find(numbered, at);
    EXPECT_NE(at, std::string::npos) << numbered;
  }
}

}  // namespace
}  // namespace troupe
