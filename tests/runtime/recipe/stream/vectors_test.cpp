// The vectors of the reference implementation: every event, step by step, and every body.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "runtime/recipe/encoding/prompt_pack.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/tokenizer/hf_tokenizer_file.hpp"
#include "tests/runtime/files.hpp"
#include "tests/runtime/recipe/deepseek_files.hpp"
#include "tests/runtime/recipe/stream/stream_fixture.hpp"

namespace troupe::recipe::test {
namespace {

using Index = JsonTape::Index;

/// A value within a parsed vector.
struct Value {
  const JsonTape* tape;
  Index index;

  Value operator[](std::string_view key) const {
    return {tape, index == JsonTape::kNone ? index : tape->find(index, key)};
  }
  bool there() const { return index != JsonTape::kNone && tape->kind(index) != JsonKind::kNull; }
  std::string_view text() const { return there() ? tape->text(index) : ""; }
  bool is(JsonKind kind) const { return there() && tape->kind(index) == kind; }
  bool truth() const { return is(JsonKind::kTrue); }
  double number() const { return there() ? json_number_value(tape->text(index)) : 0; }
  std::vector<Value> list() const {
    std::vector<Value> all;
    if (there()) tape->each(index, [&](auto, Index at) { all.push_back({tape, at}); });
    return all;
  }
  std::string json() const {
    std::string out;
    if (index == JsonTape::kNone) return "null";
    tape->print(index, kCompactJson, out);
    return out;
  }
};

Chunk chunk_of(Value value) {
  if (value["ready"].there()) {
    return ReadyChunk{std::uint64_t(value["ready"]["prompt_tokens"].number()),
                      std::uint64_t(value["ready"]["prompt_cache_hit_tokens"].number()),
                      std::string(value["ready"]["system_fingerprint"].text())};
  }
  if (value["text"].there()) {
    return TextChunk{std::string(value["text"].text()),
                     std::uint64_t(value["token_count"].number())};
  }
  if (value["finish"].there()) {
    const std::string_view reason = value["finish"].text();
    return FinishChunk{reason == "stop"     ? EngineFinish::kStop
                       : reason == "length" ? EngineFinish::kLength
                                            : EngineFinish::kContentFilter};
  }
  TokensChunk chunk;
  for (const Value id : value["tokens"].list()) chunk.ids.push_back(TokenId(int(id.number())));
  for (const Value entry : value["logprobs"].list()) {
    const std::vector<Value> pair = entry.list();
    TokensChunk::Logprob logprob{pair.at(0).number(), {}};
    for (const Value top : pair.at(1).list()) {
      logprob.top.push_back({TokenId(int(top.list().at(0).number())), top.list().at(1).number()});
    }
    chunk.logprobs.push_back(logprob);
  }
  return chunk;
}

/// What converting the vector's request gives.
std::optional<ConversationRequest> request_of(Value vector, const ConversionOptions& options) {
  const std::string_view name = vector["protocol"].text();
  const Protocol protocol = name == "chat"       ? Protocol::kChat
                            : name == "messages" ? Protocol::kMessages
                                                 : Protocol::kResponses;
  auto converted = convert_request(protocol, vector["input"]["request"].json(), options);
  if (auto* error = std::get_if<RequestError>(&converted)) {
    ADD_FAILURE() << vector["id"].text() << ": " << error->message;
    return std::nullopt;
  }
  return std::get<ConversationRequest>(std::move(converted));
}

/// An answer as it came: a list of events a chunk, the body, the first error.
struct Run {
  std::vector<std::string> steps;
  std::string body;
  std::string error = "null";
  bool finished = false;
};

std::string as_step(const std::vector<Event>& events) {
  std::string out = "[";
  for (const Event& event : events) {
    if (out.size() > 1) out += ',';
    out += event.name.empty() ? "{" : "{\"event\":\"" + event.name + "\",";
    out += "\"data\":" + normal_json(without_tails(event.json)) + "}";
  }
  return out + "]";
}

Run run(Value vector, const ConversationRequest& request,
        const std::shared_ptr<const Tokenizer>& tokenizer) {
  const Value input = vector["input"];
  Identity identity;
  identity.id = input["id"].text();
  identity.model = input["response_model"].text();
  identity.signature = input["generator"]["signature"].text();
  StreamProcessor stream(request.parsing, request.answer, identity, tokenizer);
  StreamProcessor whole(request.parsing, request.answer, identity, tokenizer, Delivery::kBody);
  EventList events;
  EventList none;
  Run result;
  const std::vector<Value> chunks = input["chunks"].list();
  for (const Value& value : chunks) {
    if (stream.finished()) break;
    const Chunk chunk = chunk_of(value);
    const Status status = stream.push(chunk, events);
    EXPECT_EQ(whole.push(chunk, none).ok(), status.ok());
    if (!status.ok()) {
      result.error = "\"" + status.error().message + "\"";
      break;
    }
    result.steps.push_back(as_step(events.take()));
  }
  if (result.error == "null" && result.steps.size() == chunks.size()) {
    EXPECT_TRUE(stream.finish(events).ok() && whole.finish(none).ok());
    result.steps.push_back(as_step(events.take()));
  }
  EXPECT_TRUE(none.events.empty());
  result.body = normal_json(without_tails(whole.body()));
  result.finished = stream.finished();
  return result;
}

/// Both texts from a little before where they differ; "" if they do not.
std::string difference(const std::string& what, const std::string& wanted, const std::string& got) {
  if (wanted == got) return "";
  const auto [w, g] = std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end());
  const auto at = std::size_t(std::max<std::ptrdiff_t>(0, w - wanted.begin() - 60));
  return what + "\n  wanted ..." + wanted.substr(at, 200) + "\n  got    ..." +
         got.substr(std::min(at, got.size()), 200) + "\n";
}

std::string problems(Value expect, const Run& got, Protocol protocol) {
  const std::vector<Value> steps = expect["steps"].list();
  for (std::size_t i = 0; i < std::max(steps.size(), got.steps.size()); ++i) {
    const std::string problem =
        difference("step " + std::to_string(i), i < steps.size() ? steps[i].json() : "nothing",
                   i < got.steps.size() ? got.steps[i] : "nothing");
    if (!problem.empty()) return problem;
  }
  return difference("body", expect["response"].json(), got.body) +
         difference("error", expect["error"].json(), got.error) +
         difference("finished", expect["finished"].truth() ? "yes" : "no",
                    got.finished ? "yes" : "no") +
         difference("done_data", std::string(expect["done_data"].text()),
                    std::string(done_data(protocol)));
}

std::shared_ptr<const PromptPack> pack(const char* model, ModelVersion version) {
  auto loaded = load_prompt_pack(::troupe::test::deepseek_pack_path(model), version);
  return loaded.ok() ? std::make_shared<const PromptPack>(*std::move(loaded)) : nullptr;
}

// Keys are compared in their order, too. Steps say when an event comes, to the chunk.
TEST(StreamVectors, the_events_and_bodies_of_the_reference_come_out) {
  const std::string path = ::troupe::test::shared_path("recipe/vectors/stream.jsonl");
  TROUPE_NEEDS_FILE(path);
  const std::string file = ::troupe::test::deepseek_tokenizer_path("deepseek-v4");
  TROUPE_NEEDS_FILE(file);
  TROUPE_NEEDS_FILE(::troupe::test::deepseek_pack_path("deepseek-v4"));
  TROUPE_NEEDS_FILE(::troupe::test::deepseek_pack_path("deepseek-v4.1"));
  const auto tokenizer = load_tokenizer_file(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  ConversionOptions options;
  options.compat = Compat::kDeepseek;
  options.pack_v4 = pack("deepseek-v4", ModelVersion::kDeepseekV4);
  options.pack_v41 = pack("deepseek-v4.1", ModelVersion::kDeepseekV41);
  ASSERT_TRUE(options.pack_v4 && options.pack_v41);
  std::ifstream in(path);
  std::map<std::string, int> passed;
  int failed = 0;
  for (std::string line; std::getline(in, line);) {
    const auto document = JsonDocument::parse(line);
    ASSERT_TRUE(document.has_value());
    const Value vector{&document->tape(), JsonDocument::kRoot};
    const auto request = request_of(vector, options);
    if (!request) continue;
    const std::string problem =
        problems(vector["expect"], run(vector, *request, *tokenizer), request->answer.protocol);
    if (problem.empty()) {
      ++passed[std::string(vector["protocol"].text())];
    } else if (++failed <= 8) {
      ADD_FAILURE() << vector["id"].text() << ": " << problem;
    }
  }
  EXPECT_EQ(failed, 0);
  for (const char* protocol : {"chat", "messages", "responses"}) {
    EXPECT_GT(passed[protocol], 0) << protocol;
    RecordProperty(protocol, passed[protocol]);
    std::printf("%s: %d passed\n", protocol, passed[protocol]);
  }
}

}  // namespace
}  // namespace troupe::recipe::test
