// Compat::kDeepseek, quirk by quirk: which deltas come with which push. What is expected here was
// observed at the reference implementation.
#include <gtest/gtest.h>

#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace troupe::recipe::test {
namespace {

/// The deltas of a push, each as one word: R: reasoning, C: content, N: name, A: arguments.
class DeltaWords final : public DeltaSink {
 public:
  void delta(const Delta& delta) override {
    static constexpr const char* kNames[] = {"R:", "C:", "N:", "A:", "A:", "done"};
    std::string scratch;
    if (!words.empty()) words += '|';
    words += kNames[static_cast<unsigned>(delta.kind)];
    words += argument_json(delta, scratch);
  }
  std::string words;
};

/// Pushes texts one by one and gives their deltas, the last entry those of the end.
class Reference {
 public:
  explicit Reference(ParsingOptions options) : parser_(compat(options), true, sink_) {}

  std::string push(std::string_view text) {
    parser_.piece({.text = text, .special = true, .is_text = true});
    return std::exchange(sink_.words, {});
  }
  std::string finish() {
    parser_.finish(true);
    return std::exchange(sink_.words, {});
  }
  /// Inside a call that was announced.
  void open_call() { push(markup("<Dtool_calls>\n<Dinvoke name=\"n\">\n")); }
  const AnswerParser& parser() const { return parser_; }

 private:
  static ParsingOptions compat(ParsingOptions options) {
    options.compat = Compat::kDeepseek;
    return options;
  }
  DeltaWords sink_;
  AnswerParser parser_;
};

ParsingOptions json_mode() {
  ParsingOptions options;
  options.initial = InitialStage::kContent;
  options.json = true;
  return options;
}

TEST(Compat, a_piece_that_may_end_in_a_delimiter_waits_whole) {
  Reference reference(content_with_tools());
  EXPECT_EQ(reference.push("a\n"), "");
  EXPECT_EQ(reference.push("b\n"), "C:a\n");
  EXPECT_EQ(reference.push("c"), "C:b\n|C:c");
  EXPECT_EQ(reference.push("d<"), "");
  EXPECT_EQ(reference.push("\n"), "C:d<|C:\n") << "a line end that breaks off a tag does not wait";
  EXPECT_EQ(reference.push("x\n<"), "");
  EXPECT_EQ(reference.finish(), "C:x\n<");
}

TEST(Compat, a_delta_for_each_state_that_a_piece_goes_through) {
  ParsingOptions options = content_with_tools();
  options.initial = InitialStage::kReasoning;
  Reference reference(options);
  EXPECT_EQ(reference.push("\nr\n</think>\n\na</think>b"), "R:r|C:a|C:b");
  EXPECT_EQ(reference.push(markup("\n<D calls><D invoke name=\"f\"></D")), "N:f|A:{}");
}

TEST(Compat, what_a_delimiter_does_waits_if_only_a_beginning_of_one_follows) {
  Reference reference(content_with_tools());
  reference.open_call();
  EXPECT_EQ(reference.push(markup("<Dparameter name=\"a\" t")), "A:{|A:\"a\"");
  EXPECT_EQ(reference.push("rue\"><"), "A:: |A:\"");
  EXPECT_EQ(reference.push("b</"), "A:<");
  EXPECT_EQ(reference.push(markup("</Dp")), "A:b</");
  EXPECT_EQ(reference.push("x"), "A:\"");
  EXPECT_EQ(reference.push(markup("</Di")), "");
  EXPECT_EQ(reference.finish(), "A:}");
}

TEST(Compat, names_end_at_a_space_and_are_not_escaped) {
  Reference reference(content_with_tools());
  reference.open_call();
  EXPECT_EQ(reference.push(markup("<Dparameter name=\"a b\" string=\"true\">v\n</D")),
            "A:{|A:\"a|A:: |A:\"|A:v\\n|A:\"");
  EXPECT_EQ(reference.push(markup("<Dparameter name=\"c\" string=\"false\">no json</D")),
            "A:, |A:\"c\"|A:: |A:no json");
}

TEST(Compat, any_invoke_behind_any_tag_is_a_call_and_a_second_block_is_lost) {
  Reference reference(content_with_tools());
  EXPECT_EQ(reference.push(markup("<Dx invoke name=\"f\"></D</Dtool_calls>")), "N:f|A:{}");
  EXPECT_EQ(reference.push(markup("<Dtool_calls><Dinvoke name=\"g\"")), "");
  EXPECT_TRUE(reference.parser().has_call());
}

TEST(Compat, json_mode_shows_a_space_for_each_piece_around_the_json) {
  Reference reference(json_mode());
  EXPECT_EQ(reference.push("\n"), "");
  EXPECT_EQ(reference.push("ab`"), "");
  EXPECT_EQ(reference.push("c``"), "C: ");
  EXPECT_EQ(reference.push("`json\n{"), "C: |C:{");
  EXPECT_EQ(reference.push("</think>}\n"), "");
  EXPECT_EQ(reference.push("```x"), "C:</think>}|C: ");
  EXPECT_EQ(reference.push("[2]"), "C: ");
}

TEST(Compat, a_bare_bracket_is_a_delta_of_its_own) {
  Reference reference(json_mode());
  EXPECT_EQ(reference.push("ok {\"a\""), "C: |C:{|C:\"a\"");
}

TEST(Compat, empty_texts_are_deltas_unless_behind_a_delimiter) {
  Reference reference(content_with_tools());
  EXPECT_EQ(reference.push(""), "");
  EXPECT_EQ(reference.push("a"), "C:|C:a");
  EXPECT_EQ(reference.push(""), "C:");
  EXPECT_EQ(reference.push("</think>"), "");
  EXPECT_EQ(reference.push(""), "");
  EXPECT_EQ(reference.push("\n"), "");
  EXPECT_EQ(reference.push(""), "");
  EXPECT_EQ(reference.push("b"), "C:\n|C:|C:b");
}

TEST(Compat, of_stop_strings_with_one_end_the_first_counts) {
  ParsingOptions options = content_with_tools();
  options.stops = {"ab", "aab"};
  Reference reference(options);
  EXPECT_EQ(reference.push("xaab"), "C:xa");
  ASSERT_NE(reference.parser().stop(), nullptr);
  EXPECT_EQ(*reference.parser().stop(), "ab");
}

TEST(Compat, tokens_that_end_within_a_character_wait_whole_and_are_lost_at_the_end) {
  ParsingOptions options = content_with_tools();
  options.compat = Compat::kDeepseek;
  TokensChunk cut{{TokenId('o'), TokenId('k'), TokenId(0xC3)}, {}};
  EXPECT_EQ(said_by(body_of(options, {TextChunk{"a", 1}, cut})),
            (Said{.content = "a", .end = "stop", .tokens = 1}));
  EXPECT_EQ(said_by(body_of(options, {cut, TokensChunk{{TokenId(0xA9), TokenId(258)}, {}}})),
            (Said{.content = "ok\xC3\xA9<|im_end|>", .end = "stop", .tokens = 5}));
}

TEST(Compat, reasoning_tokens_are_those_of_the_text_encoded_anew) {
  ParsingOptions options = content_with_tools();
  options.compat = Compat::kDeepseek;
  options.initial = InitialStage::kReasoning;
  const Said said = said_by(body_of(options, {TextChunk{"four</think>x", 1}}));
  EXPECT_EQ(said.reasoning_tokens, 4u);
  EXPECT_EQ(said.tokens, 1u);
}

TEST(Compat, without_a_finish_chunk_calls_end_with_stop) {
  ParsingOptions options = content_with_tools();
  options.compat = Compat::kDeepseek;
  StreamProcessor processor(options, {}, {.id = "i", .model = "m"}, nullptr, Delivery::kBody);
  EventList events;
  const std::string call = markup("<Dtool_calls><Dinvoke name=\"f\"></Dinvoke>");
  ASSERT_TRUE(processor.push(TextChunk{call, 1}, events).ok());
  ASSERT_TRUE(processor.finish(events).ok());
  EXPECT_EQ(said_by(processor.body()).end, "stop");
}

}  // namespace
}  // namespace troupe::recipe::test
