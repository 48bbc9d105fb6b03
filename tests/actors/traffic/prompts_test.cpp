#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <zlib.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "actors/load/synthetic_source.hpp"
#include "actors/load/trace_source.hpp"
#include "actors/traffic/image_bytes.hpp"
#include "actors/traffic/prompt_maker.hpp"
#include "actors/traffic/prompt_text.hpp"
#include "tests/runtime/files.hpp"

namespace troupe {
namespace {

PlannedRequest one_message(std::uint32_t tokens) {
  PlannedRequest planned;
  planned.prompt = {{77, tokens}};
  planned.output_tokens = 9;
  return planned;
}

HttpArrived filled(const PlannedRequest& planned, const ChatPrompts::Options& options = {},
                   std::span<const std::string> answers = {}) {
  HttpArrived request;
  ChatPrompts(options).fill(request, planned, answers);
  return request;
}

rapidjson::Document body_of(const HttpArrived& request) {
  rapidjson::Document body;
  body.Parse(request.body.c_str());
  EXPECT_FALSE(body.HasParseError()) << request.body;
  return body;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(PromptText, ContentsDifferWithinThirteenWordsAndPiecesAreBeginnings) {
  std::string long_one, short_one;
  append_words(long_one, 5, 1000);
  append_words(short_one, 5, 300);
  EXPECT_TRUE(long_one.starts_with(short_one + " "));
  EXPECT_EQ(words_of(long_one).size(), 1000u);
  std::set<std::string> begins;
  // Names that differ in any one bit, and neighbours.
  for (int bit = 0; bit < 64; ++bit) {
    for (std::uint64_t low = 0; low < 2; ++low) {
      std::string begin;
      append_words(begin, (std::uint64_t{1} << bit) + (bit > 0 ? low : 0), 13);
      begins.insert(begin);
    }
  }
  EXPECT_EQ(begins.size(), 127u);
}

TEST(ChatPrompts, MakeABodyOfAboutTheLength) {
  const auto request = filled(one_message(100), {.model = "m\"odel"});
  const auto body = body_of(request);
  EXPECT_STREQ(body["model"].GetString(), "m\"odel");
  EXPECT_EQ(body["max_tokens"].GetInt(), 9);
  EXPECT_TRUE(body["ignore_eos"].GetBool());
  EXPECT_TRUE(body["stream_options"]["include_usage"].GetBool());
  EXPECT_EQ(words_of(body["messages"][0]["content"].GetString()).size(), 88u);
  EXPECT_TRUE(std::none_of(request.headers.begin(), request.headers.end(),
                           [](const auto& header) { return header.first == "x-session-id"; }));
}

TEST(ChatPrompts, ASessionIsAConversationWithWhatTheServerSaid) {
  PlannedRequest planned;
  planned.prompt = {{1, 20, PieceRole::kSystem},
                    {2, 10, PieceRole::kUser},
                    {3, 7, PieceRole::kAssistant},
                    {4, 50, PieceRole::kUser}};
  planned.session = 12;
  planned.in_session = true;
  const std::string said[] = {"Indeed \"yes\"."};
  const auto request = filled(planned, {}, said);
  const auto body = body_of(request);
  const auto& messages = body["messages"];
  ASSERT_EQ(messages.Size(), 4u);
  EXPECT_STREQ(messages[0]["role"].GetString(), "system");
  EXPECT_EQ(words_of(messages[0]["content"].GetString()).size(), 20u);
  EXPECT_STREQ(messages[2]["role"].GetString(), "assistant");
  EXPECT_STREQ(messages[2]["content"].GetString(), "Indeed \"yes\".");
  EXPECT_EQ(words_of(messages[3]["content"].GetString()).size(), 23u);  // 27 for the template
  EXPECT_EQ(words_of(body_of(filled(planned))["messages"][2]["content"].GetString()).size(), 7u);
  EXPECT_NE(std::find(request.headers.begin(), request.headers.end(),
                      std::pair<std::string, std::string>("x-session-id", "troupe-12")),
            request.headers.end());
}

TEST(ChatPrompts, ToolsImagesAndExtraMembers) {
  PlannedRequest planned = one_message(30);
  planned.tools = 2;
  planned.images = {{9, 64, 48}};
  const auto body = body_of(filled(planned, {.extra_body = R"("temperature":0.5)"}));
  EXPECT_EQ(body["temperature"].GetDouble(), 0.5);
  ASSERT_EQ(body["tools"].Size(), 2u);
  EXPECT_STREQ(body["tools"][1]["function"]["name"].GetString(), "lookup_2");
  EXPECT_TRUE(body["tools"][0]["function"]["parameters"].IsObject());
  const auto& parts = body["messages"][0]["content"];
  ASSERT_EQ(parts.Size(), 2u);
  EXPECT_TRUE(std::string(parts[0]["image_url"]["url"].GetString())
                  .starts_with("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_STREQ(parts[1]["type"].GetString(), "text");
}

TEST(ImageBytes, AreAValidPng) {
  const std::string file = png_file({0x0123456789abcdef, 100, 30});
  auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value = value << 8 | static_cast<unsigned char>(file[at + i]);
    return value;
  };
  std::string pixels;
  std::vector<std::string> chunks;
  for (std::size_t at = 8; at < file.size(); at += 12 + number(at)) {
    const std::uint32_t size = number(at);
    chunks.push_back(file.substr(at + 4, 4));
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(file.data() + at + 4), size + 4);
    EXPECT_EQ(sum, number(at + 8 + size));
    if (chunks.back() != "IDAT") continue;
    pixels.resize(30 * 101);
    uLongf length = pixels.size();
    ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(pixels.data()), &length,
                         reinterpret_cast<const Bytef*>(file.data() + at + 8), size),
              Z_OK);
    EXPECT_EQ(length, 30u * 101);
  }
  EXPECT_EQ(chunks, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  EXPECT_EQ(number(16), 100u);
  EXPECT_EQ(number(20), 30u);
  EXPECT_NE(file, png_file({0x0123456789abcdee, 100, 30}));
  EXPECT_LT(png_file({1, 2048, 2048}).size(), 40'000u);
  const std::string url = image_url({1, 1, 1});
  EXPECT_EQ((url.size() - url.find(',') - 1) % 4, 0u);
}

/// What is loaded is the same to the byte for the same seed, whoever asks.
TEST(ChatPrompts, TheSameSeedMakesTheSameBytes) {
  LoadPlan plan;
  plan.isl = Distribution::parse("lognormal:200:1", 1).value();
  plan.turns = 3;
  plan.prefix_groups = 2;
  plan.prefix_len = 64;
  plan.tools = 1;
  auto bytes_of = [](const LoadPlan& load) {
    std::string all;
    auto source = open_source(load).value();
    for (int i = 0; i < 30; ++i) {
      auto next = source->next().value();
      while (next) {
        all += std::to_string(next->at.value) + filled(*next).body;
        next = source->after(*next);
      }
    }
    return all;
  };
  EXPECT_EQ(bytes_of(plan), bytes_of(plan));
  LoadPlan other = plan;
  other.seed = 2;
  EXPECT_NE(bytes_of(plan), bytes_of(other));
  plan.trace.file =
      test::environment_or("TROUPE_SOURCE", ".") + "/tests/data/traces/mooncake.jsonl";
  EXPECT_EQ(bytes_of(plan), bytes_of(plan));
}

/// Prompts of a trace share words exactly where their hash ids say so.
TEST(ChatPrompts, TracePromptsShareTheWordsOfEqualHashIds) {
  LoadPlan plan;
  plan.trace.file =
      test::environment_or("TROUPE_SOURCE", ".") + "/tests/data/traces/mooncake.jsonl";
  auto source = open_source(plan).value();
  std::vector<std::vector<std::string>> prompts;
  for (auto next = source->next().value(); next; next = source->next().value()) {
    const auto body = body_of(filled(*next));
    prompts.push_back(words_of(body["messages"][0]["content"].GetString()));
  }
  auto shared = [&](int a, int b) {
    const auto& one = prompts[static_cast<std::size_t>(a)];
    const auto& other = prompts[static_cast<std::size_t>(b)];
    const auto end = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    return end.first - one.begin();
  };
  ASSERT_EQ(prompts.size(), 4u);
  EXPECT_GE(shared(0, 1), 1024);  // ids 7 and 8
  EXPECT_LT(shared(0, 1), 1024 + 13);
  EXPECT_GE(shared(0, 3), 512);
  EXPECT_LT(shared(0, 3), 512 + 13);
  EXPECT_LT(shared(0, 2), 13);
}

}  // namespace
}  // namespace troupe
