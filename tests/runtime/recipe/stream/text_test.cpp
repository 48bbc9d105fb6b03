// Reasoning, content, characters, stop strings, JSON mode and counts in kDefault.
#include <gtest/gtest.h>

#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace troupe::recipe::test {
namespace {

ParsingOptions content(std::vector<std::string> stops = {}) {
  ParsingOptions options;
  options.initial = InitialStage::kContent;
  options.stops = std::move(stops);
  return options;
}

std::vector<Chunk> bytes(std::string_view text) {
  std::vector<Chunk> chunks;
  for (const char c : text) {
    chunks.push_back(TokensChunk{{TokenId(static_cast<unsigned char>(c))}, {}});
  }
  return chunks;
}

TEST(StreamText, reasoning_ends_at_its_token_and_line_ends_around_it_go) {
  const Said said = say("\n\nplan\n\n</think>\n\nanswer\n", {});
  EXPECT_EQ(said.reasoning, "plan");
  EXPECT_EQ(said.content, "answer\n");
  EXPECT_EQ(said.end, "stop");
}

TEST(StreamText, a_continuation_keeps_its_first_line_ends) {
  ParsingOptions options;
  options.initial = InitialStage::kReasoningContinuation;
  EXPECT_EQ(say("\nplan</think>a", options).reasoning, "\nplan");
  options.initial = InitialStage::kContentContinuation;
  EXPECT_EQ(say("\na", options).content, "\na");
}

TEST(StreamText, the_end_of_reasoning_within_content_is_left_out) {
  EXPECT_EQ(say("a</think>b", content()).content, "ab");
}

TEST(StreamText, tokens_are_counted_where_they_stood) {
  const Said said = say("plan</think>answer", {});
  EXPECT_EQ(said.reasoning_tokens, 4u);
  EXPECT_EQ(said.tokens, 4u + 1 + 6);
}

// text-01
TEST(StreamText, a_character_over_several_tokens_comes_whole) {
  EXPECT_EQ(said_by(body_of(content(), bytes("\xF0\x9F\x98\x80 ok"))).content,
            "\xF0\x9F\x98\x80 ok");
  const Said cut = said_by(body_of(content(), bytes("ok \xF0\x9F\x98")));
  EXPECT_EQ(cut.content, "ok \xEF\xBF\xBD");
  EXPECT_EQ(cut.tokens, 6u);
}

TEST(StreamText, good_text_does_not_wait_for_an_unfinished_character) {
  StreamProcessor processor(content(), {}, {.id = "i", .model = "m"}, tiny_tokenizer());
  EventList events;
  ASSERT_TRUE(processor.push(ReadyChunk{}, events).ok());
  events.take();
  TokensChunk chunk;
  for (const char c : std::string("ok\xF0\x9F")) {
    chunk.ids.push_back(TokenId(static_cast<unsigned char>(c)));
  }
  ASSERT_TRUE(processor.push(chunk, events).ok());
  ASSERT_EQ(events.events.size(), 1u) << "what one push adds is one delta";
  EXPECT_NE(events.events[0].json.find("\"ok\""), std::string::npos) << events.events[0].json;
}

TEST(StreamText, bytes_that_are_no_character_are_replaced_one_for_each_part) {
  const Said said = said_by(body_of(content(), bytes("a\xFF\xC3(\xF0\x9F\x98z")));
  EXPECT_EQ(said.content, "a\xEF\xBF\xBD\xEF\xBF\xBD(\xEF\xBF\xBDz");
}

TEST(StreamText, control_tokens_are_no_text_and_end_nothing) {
  EXPECT_EQ(said_by(body_of(content({"ab"}),
                            {TokensChunk{{TokenId(0xC3), TokenId(257), TokenId(0xA9)}, {}},
                             TokensChunk{{TokenId('a'), TokenId(99999), TokenId('b')}, {}}})),
            (Said{.content = "\xC3\xA9", .end = "stop", .tokens = 6}));
}

// text-03, text-05
TEST(StreamText, content_is_cut_before_the_first_stop_string) {
  EXPECT_EQ(say("one two-three-four!", content({"two-three-four", "ree Q"})).content, "one ");
  EXPECT_EQ(say("one two-three-fiv", content({"two-three-four"})).content, "one two-three-fiv");
  EXPECT_EQ(say("a...b", content({".."})).content, "a");
  EXPECT_EQ(say("ababac", content({"abac"})).content, "ab");
  EXPECT_EQ(say("xaab", content({"ab", "aab"})).content, "x") << "of one end the longest";
  EXPECT_EQ(say("abc", content({"abcd", "b"})).content, "a") << "the earliest end";
  EXPECT_EQ(say("a\xC3\xA9z", content({"\xC3\xA9"})).content, "a");
}

TEST(StreamText, stop_strings_are_for_content_only) {
  ParsingOptions options = content_with_tools();
  options.initial = InitialStage::kReasoning;
  options.stops = {"END"};
  const Said said = say("END</think>" + markup("<Dtool_calls><Dinvoke name=\"END\">"
                                               "</Dinvoke></Dtool_calls>"),
                        options);
  EXPECT_EQ(said.reasoning, "END");
  ASSERT_EQ(said.calls.size(), 1u);
  EXPECT_EQ(said.end, "tool_calls");
}

TEST(StreamText, a_stop_string_beats_what_the_engine_says) {
  EXPECT_EQ(say("aXb", content({"X"}), EngineFinish::kLength).end, "stop");
  EXPECT_EQ(say("aXb", content({"Y"}), EngineFinish::kLength).end, "length");
  EXPECT_EQ(say("aXb", content({"Y"}), EngineFinish::kContentFilter).end, "content_filter");
}

TEST(StreamText, json_mode_shows_the_json_only) {
  ParsingOptions options = content();
  options.json = true;
  for (const char* text : {"Sure:\n```json\n{\"a\": [\"}\\\"\", 1]}\n```\nbye",
                           "{\"a\": [\"}\\\"\", 1]}\n\nbye", "\n{\"a\": [\"}\\\"\", 1]}"}) {
    EXPECT_EQ(say(text, options).content, "{\"a\": [\"}\\\"\", 1]}") << text;
  }
  EXPECT_EQ(say("[1, {\"a\": 2", options).content, "[1, {\"a\": 2");
}

TEST(StreamText, json_mode_shows_an_answer_without_json) {
  ParsingOptions options = content();
  options.json = true;
  EXPECT_EQ(say("I cannot say that.", options).content, "I cannot say that.");
  const std::string novel(200'000, 'n');
  EXPECT_EQ(say(novel + "{\"a\":1}", options).content, novel + "{\"a\":1}");
  EXPECT_EQ(say("", options).content, "");
}

// reasoning-03
TEST(StreamText, json_may_speak_of_thinking) {
  ParsingOptions options = content();
  options.json = true;
  const std::string json = "{\"quote\":\"the <think> and </think> tags\"}";
  EXPECT_EQ(said_by(body_of(options, bytes(json))).content, json);
  EXPECT_EQ(said_by(body_of(options, {TextChunk{json, 9}})).content, json);
}

TEST(StreamText, a_model_without_symbols_keeps_everything) {
  StreamProcessor processor(content(), {}, {.id = "i", .model = "m"}, ByteTokenizer::build(),
                            Delivery::kBody);
  EventList events;
  const std::string text = "\na\n\n<" + std::string(kDsml) + "tool_calls></think>\n";
  for (const Chunk& chunk : bytes(text)) ASSERT_TRUE(processor.push(chunk, events).ok());
  ASSERT_TRUE(processor.finish(events).ok());
  EXPECT_EQ(said_by(processor.body()).content, text);
}

TEST(StreamText, wrong_use_is_an_error) {
  EventList events;
  StreamProcessor no_tokens(content(), {}, {.id = "i", .model = "m"}, nullptr);
  ASSERT_TRUE(no_tokens.push(TextChunk{"a", 1}, events).ok());
  EXPECT_FALSE(no_tokens.push(TokensChunk{{TokenId(1)}, {}}, events).ok());
  EXPECT_EQ(no_tokens.push(TextChunk{"a", 1}, events).error().message,
            "stream processor is closed");
  EXPECT_FALSE(no_tokens.finish(events).ok());

  StreamProcessor processor(content(), {}, {.id = "i", .model = "m"}, tiny_tokenizer());
  EXPECT_FALSE(processor.push(TokensChunk{{TokenId(1), TokenId(2)}, {{-1.0, {}}}}, events).ok());
  StreamProcessor done(content(), {}, {.id = "i", .model = "m"}, tiny_tokenizer());
  ASSERT_TRUE(done.push(FinishChunk{}, events).ok());
  EXPECT_TRUE(done.finished());
  EXPECT_FALSE(done.push(TextChunk{"a", 1}, events).ok());
  EXPECT_TRUE(done.finish(events).ok());
}

}  // namespace
}  // namespace troupe::recipe::test
