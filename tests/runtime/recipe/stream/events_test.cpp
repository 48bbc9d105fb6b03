// The events and bodies of each protocol, literally, in kDefault; and what differs in kDeepseek.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace troupe::recipe::test {
namespace {

const std::string kChatHead =
    R"({"id":"r1","object":"chat.completion.chunk","created":7,"model":"m","choices":[)";

AnswerOptions answer(Protocol protocol, bool thinking = true) {
  AnswerOptions options;
  options.protocol = protocol;
  options.thinking = thinking;
  return options;
}

ParsingOptions parsing(Compat compat = Compat::kDefault) {
  ParsingOptions options;
  options.compat = compat;
  options.tools = true;
  return options;
}

std::vector<Event> events_of(const AnswerOptions& options, const std::vector<Chunk>& chunks,
                             ParsingOptions parse = parsing()) {
  StreamProcessor processor(parse, options, {.id = "r1", .model = "m", .created = 7},
                            tiny_tokenizer());
  EventList events;
  for (const Chunk& chunk : chunks) EXPECT_TRUE(processor.push(chunk, events).ok());
  EXPECT_TRUE(processor.finish(events).ok());
  for (Event& event : events.events) event.json = without_tails(event.json);
  return events.take();
}

std::vector<Chunk> short_answer(EngineFinish finish = EngineFinish::kStop) {
  return {ReadyChunk{5, 2, ""}, TextChunk{"r</think>a", 3},
          TextChunk{markup("<Dtool_calls><Dinvoke name=\"f\"></Dinvoke>"), 9}, FinishChunk{finish}};
}

// tool_stream-07, -08, -09
TEST(ChatEvents, a_stream_has_these_events) {
  AnswerOptions options = answer(Protocol::kChat);
  options.include_usage = true;
  const std::vector<Event> events = events_of(options, short_answer());
  const auto chunk = [](const std::string& delta, const std::string& reason = "null") {
    return Event{
        "", kChatHead + R"({"index":0,"delta":)" + delta + R"(,"finish_reason":)" + reason + "}]}"};
  };
  EXPECT_EQ(events,
            (std::vector<Event>{
                chunk(R"({"role":"assistant","content":""})"),
                chunk(R"({"reasoning_content":"r"})"),
                chunk(R"({"content":"a"})"),
                chunk(R"({"tool_calls":[{"index":0,"id":"call_00_*","type":"function",)"
                      R"("function":{"name":"f","arguments":""}}]})"),
                chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]})"),
                chunk("{}", "\"tool_calls\""),
                {"", kChatHead + R"(],"usage":{"prompt_tokens":5,"completion_tokens":12,)"
                                 R"("total_tokens":17,"prompt_tokens_details":{"cached_tokens":2},)"
                                 R"("completion_tokens_details":{"reasoning_tokens":0}}})"},
            }));
}

TEST(ChatEvents, logprobs_keep_the_bytes_of_half_characters) {
  TokensChunk chunk{{TokenId(0xC3), TokenId(0xA9)},
                    {{-0.5, {{TokenId('x'), -2.0}}}, {-HUGE_VAL, {}}}};
  ParsingOptions parse = parsing();
  parse.initial = InitialStage::kContent;
  const auto events = events_of(answer(Protocol::kChat, false), {ReadyChunk{}, chunk}, parse);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[1].json,
            kChatHead + R"({"index":0,"delta":{"content":"é"},"logprobs":{"content":[)"
                        R"({"token":"�","logprob":-0.5,"bytes":[195],"top_logprobs":[)"
                        R"({"token":"x","logprob":-2.0,"bytes":[120]}]},)"
                        R"({"token":"�","logprob":-9999.0,"bytes":[169],"top_logprobs":[]}],)"
                        R"("refusal":null},"finish_reason":null}]})");
}

TEST(ChatEvents, the_reference_shows_every_key_and_no_usage_chunk) {
  AnswerOptions options = answer(Protocol::kChat);
  options.include_usage = true;
  const auto events =
      events_of(options, {ReadyChunk{5, 2, "fp"}, TextChunk{"r", 1}}, parsing(Compat::kDeepseek));
  ASSERT_EQ(events.size(), 3u);
  const std::string head = R"({"id":"r1","object":"chat.completion.chunk","created":7,"model":"m",)"
                           R"("system_fingerprint":"fp","choices":[{"index":0,"delta":)";
  EXPECT_EQ(events[1].json, head + R"({"content":null,"reasoning_content":"r"},"logprobs":null,)"
                                   R"("finish_reason":null}],"usage":null})");
  EXPECT_EQ(events[2].json,
            head + R"({"content":"","reasoning_content":null},"logprobs":null,)"
                   R"("finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,)"
                   R"("total_tokens":6,"prompt_tokens_details":{"cached_tokens":2},)"
                   R"("completion_tokens_details":{"reasoning_tokens":1},)"
                   R"("prompt_cache_hit_tokens":2,"prompt_cache_miss_tokens":3}})");
}

TEST(MessagesEvents, blocks_follow_each_other) {
  std::string names;
  for (const Event& event : events_of(answer(Protocol::kMessages), short_answer())) {
    names += event.name + ' ';
  }
  EXPECT_EQ(names,
            "message_start content_block_start ping content_block_delta content_block_delta "
            "content_block_stop content_block_start content_block_delta content_block_stop "
            "content_block_start content_block_delta content_block_stop message_delta "
            "message_stop ");
}

// anthropic_sse-03
TEST(MessagesEvents, a_call_at_once_is_the_first_block) {
  const std::vector<Chunk> chunks = {
      ReadyChunk{5, 2, ""},
      TextChunk{markup("</think><Dtool_calls><Dinvoke name=\"f\"></Dinvoke></Dtool_calls>"), 9},
      FinishChunk{EngineFinish::kStop}};
  const auto events = events_of(answer(Protocol::kMessages), chunks);
  ASSERT_GT(events.size(), 2u);
  EXPECT_NE(events[1].json.find(R"("index":0,"content_block":{"type":"tool_use")"),
            std::string::npos)
      << events[1].json;
  const std::string whole =
      without_tails(body_of(parsing(), chunks, EngineFinish::kStop, answer(Protocol::kMessages)));
  EXPECT_NE(whole.find(R"("content":[{"type":"tool_use")"), std::string::npos) << whole;
}

// tool_stream-01
TEST(ChatEvents, calls_are_numbered_and_named_once) {
  const auto events = events_of(
      answer(Protocol::kChat),
      {TextChunk{markup("</think><Dtool_calls><Dinvoke name=\"f\"></Dinvoke>"), 5},
       TextChunk{markup("<Dinvoke name=\"g\"><Dparameter name=\"a\" string=\"true\">x</Dparameter>"
                        "</Dinvoke></Dtool_calls>"),
                 9},
       FinishChunk{EngineFinish::kStop}});
  std::string all;
  for (const Event& event : events) all += event.json;
  const auto count = [&](std::string_view part) {
    int found = 0;
    for (auto at = all.find(part); at != all.npos; at = all.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(R"({"index":0,"id":"call_00_ET_*","type":"function","function":{"name":"f")"), 1);
  EXPECT_EQ(count(R"({"index":1,"id":"call_01_ET_*","type":"function","function":{"name":"g")"), 1);
  EXPECT_EQ(count(R"("name":)"), 2);
  EXPECT_EQ(count(R"("id":"call_)"), 2);
}

std::string body(Protocol protocol, const std::vector<Chunk>& chunks) {
  return without_tails(body_of(parsing(), chunks, EngineFinish::kStop, answer(protocol)));
}

TEST(MessagesBody, shows_whole_calls_only) {
  EXPECT_EQ(body(Protocol::kMessages, short_answer()),
            R"({"id":"i","type":"message","role":"assistant","model":"m","content":[)"
            R"({"type":"thinking","thinking":"r","signature":"i"},{"type":"text","text":"a"},)"
            R"({"type":"tool_use","id":"call_00_*","name":"f","input":{}}],)"
            R"("stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":3,)"
            R"("cache_creation_input_tokens":0,"cache_read_input_tokens":2,"output_tokens":12,)"
            R"("service_tier":"standard"}})");
  const std::string cut =
      body(Protocol::kMessages,
           {TextChunk{markup("</think><Dtool_calls><Dinvoke name=\"f\"><Dparameter name=\"a\" "
                             "string=\"true\">x"),
                      1},
            FinishChunk{EngineFinish::kLength}});
  EXPECT_EQ(cut.find("tool_use"), std::string::npos) << cut;
  EXPECT_NE(cut.find(R"("stop_reason":"max_tokens")"), std::string::npos) << cut;
}

TEST(ResponsesEvents, items_follow_each_other_and_are_numbered) {
  const auto events = events_of(answer(Protocol::kResponses), short_answer());
  std::string names;
  for (std::size_t i = 0; i < events.size(); ++i) {
    names += events[i].name.substr(sizeof("response.") - 1) + ' ';
    const auto document = JsonDocument::parse(events[i].json);
    ASSERT_TRUE(document.has_value());
    const auto at = document->tape().find(JsonDocument::kRoot, "sequence_number");
    EXPECT_EQ(document->tape().text(at), std::to_string(i));
  }
  EXPECT_EQ(names,
            "created in_progress output_item.added content_part.added reasoning_text.delta "
            "reasoning_text.done content_part.done output_item.done output_item.added "
            "content_part.added output_text.delta output_text.done content_part.done "
            "output_item.done output_item.added function_call_arguments.delta "
            "function_call_arguments.done output_item.done completed ");
}

TEST(ResponsesEvents, the_time_of_the_end_is_not_made_up) {
  const auto body = [](Compat compat, EngineFinish finish, std::int64_t passed = -1) {
    StreamProcessor processor(parsing(compat), answer(Protocol::kResponses),
                              {.id = "r1", .model = "m", .created = 7}, tiny_tokenizer(),
                              Delivery::kBody);
    EventList events;
    if (passed >= 0) processor.passed(passed);
    for (const Chunk& chunk : short_answer(finish)) {
      EXPECT_TRUE(processor.push(chunk, events).ok());
    }
    return processor.body();
  };
  const auto says = [](const std::string& body, const std::string& time) {
    return body.find(R"("created_at":7,)") != std::string::npos &&
           body.find("\"completed_at\":" + time + ",") != std::string::npos;
  };
  EXPECT_TRUE(says(body(Compat::kDefault, EngineFinish::kStop), "null"));
  EXPECT_TRUE(says(body(Compat::kDefault, EngineFinish::kLength), "null"));
  EXPECT_TRUE(says(body(Compat::kDefault, EngineFinish::kStop, 5), "12"));
  EXPECT_TRUE(says(body(Compat::kDefault, EngineFinish::kLength, 5), "null"));
  EXPECT_TRUE(says(body(Compat::kDeepseek, EngineFinish::kStop), "7"));
  EXPECT_TRUE(says(body(Compat::kDeepseek, EngineFinish::kLength), "7"));
}

TEST(Bodies, come_without_events) {
  for (const Protocol protocol : {Protocol::kChat, Protocol::kMessages, Protocol::kResponses}) {
    StreamProcessor processor(parsing(), answer(protocol), {.id = "r1", .model = "m"},
                              tiny_tokenizer(), Delivery::kBody);
    EventList events;
    for (const Chunk& chunk : short_answer()) EXPECT_TRUE(processor.push(chunk, events).ok());
    EXPECT_TRUE(processor.finish(events).ok());
    EXPECT_TRUE(events.events.empty());
    EXPECT_NE(processor.body().find(R"("r1")"), std::string::npos);
  }
}

TEST(ResponsesEvents, a_call_that_was_cut_has_no_done_and_is_incomplete) {
  const auto events =
      events_of(answer(Protocol::kResponses),
                {TextChunk{markup("<Dtool_calls><Dinvoke name=\"f\"><Dparameter name=\"a\" "
                                  "string=\"true\">x"),
                           1},
                 FinishChunk{EngineFinish::kLength}});
  for (const Event& event : events) {
    EXPECT_NE(event.name, "response.function_call_arguments.done");
  }
  EXPECT_EQ(events.back().name, "response.incomplete");
  EXPECT_NE(events.back().json.find(R"("status":"incomplete","call_id")"), std::string::npos);
}

TEST(Failures, each_protocol_has_its_last_event) {
  for (const Protocol protocol : {Protocol::kChat, Protocol::kMessages, Protocol::kResponses}) {
    StreamProcessor processor(parsing(), answer(protocol), {.id = "r1", .model = "m"},
                              tiny_tokenizer());
    EventList events;
    ASSERT_TRUE(processor.push(TextChunk{"a", 1}, events).ok());
    processor.fail({503, "server_error", "", "lost", "the engine is gone"}, events);
    const Event last = events.events.back();
    EXPECT_NE(last.json.find("the engine is gone"), std::string::npos);
    EXPECT_TRUE(processor.finished());
    if (protocol == Protocol::kChat) {
      EXPECT_EQ(last.json.substr(0, 9), R"({"error":)");
    }
    if (protocol == Protocol::kMessages) {
      EXPECT_EQ(last.name, "error");
    }
    if (protocol == Protocol::kResponses) {
      EXPECT_EQ(last.name, "response.failed");
    }
  }
}

TEST(CallIds, differ_within_and_between_answers_and_repeat_with_the_seed) {
  const auto ids = [](std::uint64_t seed) {
    StreamProcessor processor(content_with_tools(), answer(Protocol::kChat, false),
                              {.id = "i", .model = "m", .seed = seed}, nullptr, Delivery::kBody);
    EventList events;
    const std::string call = markup("<Dinvoke name=\"f\"></Dinvoke>");
    EXPECT_TRUE(processor.push(TextChunk{markup("<Dtool_calls>") + call + call, 1}, events).ok());
    EXPECT_TRUE(processor.finish(events).ok());
    return processor.body();
  };
  EXPECT_EQ(ids(1), ids(1));
  EXPECT_NE(ids(1), ids(2));
  EXPECT_EQ(without_tails(ids(1)), without_tails(ids(2)));
}

}  // namespace
}  // namespace troupe::recipe::test
