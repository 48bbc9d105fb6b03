// Properties over random transcripts: however an answer is cut into chunks it says the same, and
// the events of a stream, put together, are the body.
#include <gtest/gtest.h>

#include <random>

#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace troupe::recipe::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

/// Markup, its beginnings and ends, and what may be mistaken for it, in any order.
std::string transcript(Random& random) {
  static const std::string parts[] = {"a",
                                      "kettle",
                                      " ",
                                      "\n",
                                      "\n\n",
                                      "<",
                                      "</",
                                      "\xC3\xA9",
                                      "\xF0\x9F\x98\x80",
                                      "END",
                                      "\"",
                                      "{\"k\": [1, \"}\"]}",
                                      "{",
                                      "```json\n",
                                      "\n```",
                                      "</think>",
                                      "<think>",
                                      std::string(kDsml),
                                      markup("<Dtool_calls>\n"),
                                      markup("<D calls>"),
                                      markup("<Dfunction_calls>"),
                                      markup("<Dinvoke name=\"f\">\n"),
                                      markup("<D invoke name=\"g h\">"),
                                      markup("<Dparameter name=\"a\" string=\"true\">"),
                                      markup("<D parameter name=\"b c\" string=\"false\">"),
                                      markup("</Dparameter>\n"),
                                      markup("</D parameter>"),
                                      markup("</Dinvoke>\n"),
                                      markup("</D invoke>"),
                                      markup("</Dtool_calls>"),
                                      markup("</D calls>"),
                                      "true",
                                      "42",
                                      "string=\"true\">"};
  std::string text;
  for (std::size_t i = below(random, 30); i > 0; --i)
    text += parts[below(random, std::size(parts))];
  return text;
}

ParsingOptions random_options(Random& random, Compat compat) {
  ParsingOptions options;
  options.compat = compat;
  options.tools = below(random, 4) > 0;
  options.starts_in_tools = options.tools && below(random, 6) == 0;
  options.json = compat == Compat::kDefault && below(random, 5) == 0;
  options.initial = static_cast<InitialStage>(below(random, 4));
  if (below(random, 3) == 0) options.stops = {"END", "\n\n", "tle k"};
  return options;
}

/// `text` as text chunks of random sizes, in bytes.
std::vector<Chunk> text_chunks(std::string_view text, Random& random, bool whole_characters) {
  std::vector<Chunk> chunks;
  const std::size_t longest = 1 + below(random, 12);
  while (!text.empty()) {
    std::size_t size = std::min(text.size(), 1 + below(random, longest));
    while (whole_characters && size < text.size() && (text[size] & 0xC0) == 0x80) ++size;
    chunks.push_back(TextChunk{std::string(text.substr(0, size)), 0});
    text.remove_prefix(size);
  }
  return chunks;
}

TEST(Split, tokens_say_the_same_in_chunks_of_any_size) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const ParsingOptions options = random_options(random, Compat::kDefault);
    const auto ids = tokens_of(transcript(random));
    const auto finish = static_cast<EngineFinish>(below(random, 2));
    const std::string one = body_of(options, chunks_of(ids, 1), finish);
    for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{7}, ids.size()}) {
      // A stop string ends the count with its chunk.
      if (!options.stops.empty()) {
        Said a = said_by(one), b = said_by(body_of(options, chunks_of(ids, size + 1), finish));
        a.tokens = b.tokens = a.reasoning_tokens = b.reasoning_tokens = 0;
        ASSERT_EQ(a, b) << "seed " << seed;
      } else {
        ASSERT_EQ(body_of(options, chunks_of(ids, size + 1), finish), one) << "seed " << seed;
      }
    }
  }
}

TEST(Split, texts_say_the_same_cut_anywhere) {
  for (const Compat compat : {Compat::kDefault, Compat::kDeepseek}) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
      Random random(seed);
      const ParsingOptions options = random_options(random, compat);
      const std::string text = transcript(random);
      const auto finish = static_cast<EngineFinish>(below(random, 2));
      const bool whole = compat == Compat::kDeepseek;  // it takes texts as they come
      const std::string one = body_of(options, {TextChunk{text, 0}}, finish);
      ASSERT_EQ(body_of(options, text_chunks(text, random, whole), finish), one)
          << "seed " << seed << "\n"
          << text;
    }
  }
}

/// What is behind `key` in flat JSON that was written by us, unescaped.
std::string member(const std::string& json, const std::string& key) {
  const auto document = JsonDocument::parse(json);
  if (!document) return "no JSON";
  const JsonTape& tape = document->tape();
  std::string out;
  tape.each(tape.find(JsonDocument::kRoot, "choices"), [&](auto, JsonTape::Index choice) {
    const auto delta = tape.find(choice, "delta");
    const auto at = tape.find(delta, key);
    if (at != JsonTape::kNone && tape.kind(at) == JsonKind::kString) out = tape.text(at);
    const auto calls = tape.find(delta, "tool_calls");
    if (key != "arguments" || calls == JsonTape::kNone) return;
    tape.each(calls, [&](auto, JsonTape::Index call) {
      out = tape.text(tape.find(tape.find(call, "function"), "arguments"));
    });
  });
  return out;
}

TEST(Split, the_events_of_a_stream_are_the_body_and_arguments_are_json) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const ParsingOptions options = random_options(random, Compat::kDefault);
    const auto chunks = chunks_of(tokens_of(transcript(random)), 1 + below(random, 4));
    const Said said = said_by(body_of(options, chunks));
    StreamProcessor processor(options, {}, {.id = "i", .model = "m"}, tiny_tokenizer());
    EventList events;
    for (const Chunk& chunk : chunks) {
      if (processor.finished()) break;
      ASSERT_TRUE(processor.push(chunk, events).ok());
    }
    ASSERT_TRUE(processor.finish(events).ok());
    std::string content, reasoning, arguments, all;
    for (const Event& event : events.events) {
      content += member(event.json, "content");
      reasoning += member(event.json, "reasoning_content");
      arguments += member(event.json, "arguments");
    }
    for (const Said::Call& call : said.calls) all += call.arguments;
    ASSERT_EQ(content, said.content) << "seed " << seed;
    ASSERT_EQ(reasoning, said.reasoning) << "seed " << seed;
    ASSERT_EQ(arguments, all) << "seed " << seed;
    for (std::size_t i = 0; i < said.calls.size(); ++i) {
      if (said.end == "length" && i + 1 == said.calls.size()) break;
      ASSERT_TRUE(JsonDocument::parse(said.calls[i].arguments)) << said.calls[i].arguments;
    }
  }
}

}  // namespace
}  // namespace troupe::recipe::test
