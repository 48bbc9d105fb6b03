// What the parser makes of markup in kDefault. Numbers of shared cases are those of cases.jsonl.
#include <gtest/gtest.h>

#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace troupe::recipe::test {
namespace {

using Calls = std::vector<Said::Call>;

std::string parameter(std::string_view name, std::string_view value, bool text = true) {
  return markup("<Dparameter name=\"") + std::string(name) + "\" string=\"" +
         (text ? "true" : "false") + "\">" + std::string(value) + markup("</Dparameter>\n");
}

std::string call(std::string_view name, const std::string& parameters = "") {
  return markup("<Dinvoke name=\"") + std::string(name) + "\">\n" + parameters +
         markup("</Dinvoke>\n");
}

std::string block(const std::string& calls) {
  return markup("<Dtool_calls>\n") + calls + markup("</Dtool_calls>");
}

Said say_block(const std::string& calls) {
  return say(block(calls), content_with_tools());
}

// dsml-01, tool_stream-01
TEST(Markup, calls_have_names_and_json_arguments) {
  const Said said = say_block(call("run", parameter("cmd", "a")) +
                              call("run", parameter("cmd", "b")) + call("run"));
  EXPECT_EQ(said.calls,
            (Calls{{"run", R"({"cmd": "a"})"}, {"run", R"({"cmd": "b"})"}, {"run", "{}"}}));
  EXPECT_EQ(said.content, "");
  EXPECT_EQ(said.end, "tool_calls");
}

TEST(Markup, every_spelling_of_the_tags_is_known) {
  for (const char* text : {
           "<Dfunction_calls>\n<Dinvoke name=\"f\">\n<Dparameter name=\"a\" string=\"true\">x"
           "</Dparameter>\n</Dinvoke>\n</Dfunction_calls>",
           "<Dtool_calls>\n<Dinvoke name=\"f\">\n<Dparameter name=\"a\" string=\"true\">x"
           "</Dparameter>\n</Dinvoke>\n</Dtool_calls>",
           "<D calls>\n<D invoke name=\"f\">\n<D parameter name=\"a\" string=\"true\">x"
           "</D parameter>\n</D invoke>\n</D calls>",
       }) {
    const Said said = say("hi\n\n" + markup(text), content_with_tools());
    EXPECT_EQ(said.calls, (Calls{{"f", R"({"a": "x"})"}})) << text;
    EXPECT_EQ(said.content, "hi") << text;
  }
}

// dsml-03, dsml-04
TEST(Markup, a_value_ends_at_a_whole_closing_tag_only) {
  for (const std::string value : {"make 2>&1", ">", "<", "</", "&&", "a<b>c", "</\xEF\xBD\x9C",
                                  "<invoke name=\"x\"></invoke> </parameter>"}) {
    std::string json;
    append_json_string(json, value);
    EXPECT_EQ(say_block(call("run", parameter("cmd", value))).calls,
              (Calls{{"run", "{\"cmd\": " + json + "}"}}))
        << value;
  }
  const std::string quoted = markup("<Dparameter name=\"q\" string=\"true\"> \"q\" \\ \n\t");
  std::string json;
  append_json_string(json, quoted);
  EXPECT_EQ(say_block(call("run", parameter("body", quoted))).calls,
            (Calls{{"run", "{\"body\": " + json + "}"}}));
}

// dsml-08, dsml-09
TEST(Markup, values_that_are_no_strings_are_json_or_become_strings) {
  EXPECT_EQ(
      say_block(call("run", parameter("n", "5", false) +
                                parameter("cfg", "{\"a\":[1,null,true]}", false) +
                                parameter("zip", "02134") + parameter("bad", "not json", false) +
                                parameter("null", "null", false) + parameter("nothing", "", false)))
          .calls,
      (Calls{{"run",
              "{\"n\": 5, \"cfg\": {\"a\":[1,null,true]}, \"zip\": \"02134\", "
              "\"bad\": \"not json\", \"null\": null, \"nothing\": \"\"}"}}));
}

TEST(Markup, names_are_escaped_and_kept_whole) {
  EXPECT_EQ(say_block(call("a\\b\nc", parameter("two words\t", "v"))).calls,
            (Calls{{"a\\b\nc", R"({"two words\t": "v"})"}}));
}

TEST(Markup, attributes_may_be_missing_or_more) {
  const std::string head = markup("<Dparameter name=\"a\"");
  const std::string tail = markup("</Dparameter>\n");
  EXPECT_EQ(say_block(call("f", head + ">v" + tail)).calls, (Calls{{"f", R"({"a": "v"})"}}));
  EXPECT_EQ(say_block(call("f", head + " kind=\"x\" string=\"false\">1" + tail)).calls,
            (Calls{{"f", R"({"a": 1})"}}));
}

// dsml-06
TEST(Markup, the_models_stop_ends_an_open_block_but_no_open_value) {
  const std::string open =
      markup("<Dtool_calls>\n<Dinvoke name=\"run\">\n") + parameter("cmd", "ls");
  const Calls run{{"run", R"({"cmd": "ls"})"}};
  for (const std::string& text : {open, open + markup("</Dinvoke>\n"), open + markup("</D")}) {
    const Said said = say(text, content_with_tools());
    EXPECT_EQ(said.calls, run);
    EXPECT_EQ(said.end, "tool_calls");
  }
  const Said cut = say(markup("<Dtool_calls>\n<Dinvoke name=\"run\">\n"
                              "<Dparameter name=\"cmd\" string=\"true\">l"),
                       content_with_tools());
  EXPECT_EQ(cut.calls, (Calls{{"run", R"({"cmd": "l)"}}));
  EXPECT_EQ(cut.end, "length");
}

TEST(Markup, a_limit_is_length_whatever_was_called) {
  const std::string text = block(call("run", parameter("cmd", "ls")));
  for (std::size_t size = 0; size <= tokens_of(text).size(); ++size) {
    auto ids = tokens_of(text);
    ids.resize(size);
    const Said said =
        said_by(body_of(content_with_tools(), chunks_of(ids, 1), EngineFinish::kLength));
    EXPECT_EQ(said.end, "length");
  }
  const Said said = say(markup("<Dtool_calls>\n<Dinvoke name=\"run\">\n"), content_with_tools(),
                        EngineFinish::kLength);
  EXPECT_EQ(said.calls, (Calls{{"run", ""}}));
}

TEST(Markup, a_call_outside_of_a_block_is_never_dispatched) {
  const Said said = say("a" + call("run", parameter("cmd", "ls")) + "b", content_with_tools());
  EXPECT_EQ(said.calls, Calls{});
  EXPECT_EQ(said.content, "a\nb");
  EXPECT_EQ(said.end, "stop");
  const Said open =
      say(markup("<Dinvoke name=\"f\">\n<Dinvoke name=\"g\">\n</Dinvoke>x"), content_with_tools());
  EXPECT_EQ(open.calls, Calls{});
  EXPECT_EQ(open.content, "x");
}

// dsml-13
TEST(Markup, without_tools_a_block_is_neither_called_nor_shown) {
  ParsingOptions options = content_with_tools();
  options.tools = false;
  const Said said = say("a\n\n" + block(call("run")) + "b", options);
  EXPECT_EQ(said.calls, Calls{});
  EXPECT_EQ(said.content, "ab");
  EXPECT_EQ(said.end, "stop");
}

TEST(Markup, what_only_looks_like_markup_is_text) {  // dsml-11
  for (const std::string text : {"a < b", "<\xEF\xBD\x9C",
                                 "<\xEF\xBD\x9C"
                                 "DSX",
                                 "x\n<", "</b>",
                                 "Sure. <\xE2\x80\x96"
                                 "DSML\xE2\x80\x96tool_calls>next"}) {
    EXPECT_EQ(say(text, content_with_tools()).content, text);
  }
  const std::string lone = markup("D is a symbol, <D a tag>");
  EXPECT_EQ(say(lone, content_with_tools()).content, lone);
}

TEST(Markup, spelled_by_ordinary_tokens_it_is_text) {
  const std::string text = block(call("run")) + "</think>";
  std::vector<TokenId> ids;
  for (const char c : text) ids.push_back(TokenId(static_cast<unsigned char>(c)));
  EXPECT_EQ(said_by(body_of(content_with_tools(), chunks_of(ids, 1))).content, text);
}

TEST(Markup, text_that_is_pushed_may_spell_it_in_any_pieces) {  // reasoning-01
  ParsingOptions options = content_with_tools();
  options.initial = InitialStage::kReasoning;
  const Said said = said_by(
      body_of(options, {TextChunk{"plan<", 1}, TextChunk{"/think>\n\n" + block(call("run")), 9}}));
  EXPECT_EQ(said.reasoning, "plan");
  EXPECT_EQ(said.content, "");
  EXPECT_EQ(said.calls, (Calls{{"run", "{}"}}));
}

TEST(Markup, a_second_block_counts_and_text_behind_a_block_does_not) {
  const Said said =
      say(block(call("f")) + "well\n" + block(call("g")) + "bye", content_with_tools());
  EXPECT_EQ(said.calls, (Calls{{"f", "{}"}, {"g", "{}"}}));
  EXPECT_EQ(said.content, "");
}

TEST(Markup, one_call_ends_the_answer_behind_it) {
  ParsingOptions options = content_with_tools();
  options.one_call = true;
  const auto ids = tokens_of("well\n" + block(call("f", parameter("a", "v")) + call("g")) + "bye");
  for (const std::size_t size : {std::size_t{1}, std::size_t{9}, ids.size()}) {
    const Said said = said_by(body_of(options, chunks_of(ids, size)));
    EXPECT_EQ(said.calls, (Calls{{"f", R"({"a": "v"})"}})) << size;
    EXPECT_EQ(said.content, "well") << size;
    EXPECT_EQ(said.end, "tool_calls") << size;
  }
  StreamProcessor processor(options, {}, {.id = "i", .model = "m"}, tiny_tokenizer());
  EventList events;
  for (const Chunk& chunk : chunks_of(ids, 1)) {
    if (processor.finished()) break;
    ASSERT_TRUE(processor.push(chunk, events).ok());
  }
  EXPECT_TRUE(processor.finished()) << "what the model goes on to say is not waited for";
}

TEST(Markup, forgotten_closing_tags_are_made_up_for) {
  EXPECT_EQ(say(markup("<Dtool_calls>\n<Dinvoke name=\"f\">\n<Dinvoke name=\"g\">\n"
                       "<Dparameter name=\"a\" string=\"true\">v</Dtool_calls>"),
                content_with_tools())
                .calls,
            (Calls{{"f", "{}"}, {"g", R"({"a": "v"})"}}));
}

TEST(Markup, a_call_without_a_name_is_left_out) {
  EXPECT_EQ(say_block(call("", parameter("a", "v")) + call("f")).calls, (Calls{{"f", "{}"}}));
}

// tool_stream-05
TEST(Markup, a_required_call_that_is_not_made_is_a_stop) {
  ParsingOptions options = content_with_tools();
  options.starts_in_tools = true;
  const std::string body = body_of(options, chunks_of(tokens_of("Hello there"), 1));
  EXPECT_EQ(said_by(body).end, "stop");
  EXPECT_EQ(said_by(body).content, "Hello there") << "it was paid for";
  EXPECT_EQ(body.find("tool_calls"), std::string::npos);
  EXPECT_EQ(say("\n Hm\n" + markup("<Dinvoke name=\"f\">\n</Dinvoke>"), options).content, "");
  EXPECT_EQ(say(markup("invoke name=\"f\">\n</Dinvoke>"), options).calls, (Calls{{"f", "{}"}}));
}

// dsml-16
TEST(Markup, a_long_argument_streams_piece_by_piece) {
  constexpr int kLength = 17'000;
  const std::string text = block(call("write", parameter("text", std::string(kLength, 'y'))));
  StreamProcessor processor(content_with_tools(), {}, {.id = "i", .model = "m"}, tiny_tokenizer());
  EventList events;
  std::size_t named_after = 0, pushed = 0, pieces = 0;
  for (const Chunk& chunk : chunks_of(tokens_of(text), 1)) {
    ASSERT_TRUE(processor.push(chunk, events).ok());
    ++pushed;
    for (const Event& event : events.take()) {
      if (event.json.find("\"name\":\"write\"") != std::string::npos) named_after = pushed;
      pieces += event.json.find("\"arguments\":\"y\"") != std::string::npos ? 1 : 0;
    }
  }
  EXPECT_GT(named_after, 0u);
  EXPECT_LT(named_after, 60u) << "as soon as its tag is closed";
  EXPECT_EQ(pieces, static_cast<std::size_t>(kLength)) << "an event each token";
}

/// CPU seconds of an answer with so many openers of calls and halves of closers, and what it says.
double time_of_openers(int count) {
  std::string text = markup("<Dtool_calls>\n");
  for (int i = 0; i < count; ++i) text += markup("<Dinvoke name=\"run\">");
  text += markup("<Dparameter name=\"a\" string=\"true\">");
  for (int i = 0; i < count; ++i) text += markup("</Dparam");
  const std::clock_t begin = std::clock();
  EXPECT_EQ(say(text, content_with_tools()).calls.size(), static_cast<std::size_t>(count));
  return double(std::clock() - begin) / CLOCKS_PER_SEC;
}

// dsml-15
TEST(Markup, many_openers_take_linear_time) {
  const double some = time_of_openers(1'500);
  const double many = time_of_openers(12'000);
  EXPECT_LT(many, 32 * some) << "8 times as many: 8 if linear, 64 if quadratic";
}

}  // namespace
}  // namespace troupe::recipe::test
