// What the tests of streams share: events as text, engines as lists of chunks, and a small
// tokenizer that has the two symbols.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/stream/answer_json.hpp"
#include "runtime/recipe/stream/stream_processor.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe::recipe::test {

struct Event {
  std::string name;
  std::string json;

  friend bool operator==(const Event&, const Event&) = default;
};

class EventList final : public EventSink {
 public:
  void event(std::string_view name, std::string_view json) override {
    events.push_back({std::string(name), std::string(json)});
  }
  std::vector<Event> take() { return std::exchange(events, {}); }

  std::vector<Event> events;
};

/// The random tail of each call id as '*', as in the vectors.
inline std::string without_tails(std::string text) {
  static constexpr std::string_view kHead = "call_";
  for (std::size_t at = text.find(kHead); at != std::string::npos; at = text.find(kHead, at + 1)) {
    std::size_t tail = text.find_first_not_of("0123456789", at + kHead.size());
    if (tail == std::string::npos || text[tail] != '_') continue;
    ++tail;
    if (text.compare(tail, 3, "ET_") == 0) tail += 3;
    const std::size_t end = text.find('"', tail);
    if (end != tail + 24) continue;
    text.replace(tail, 24, "*");
  }
  return text;
}

inline constexpr std::string_view kD = kDsml;

/// Bytes are tokens 0 to 255; the two symbols are control tokens.
inline std::shared_ptr<const Tokenizer> tiny_tokenizer() {
  static const std::string symbols[] = {std::string(kThinkEnd), std::string(kDsml)};
  static const auto tokenizer = ByteTokenizer::build(symbols);
  return tokenizer;
}

/// `D` in a text is the DSML symbol: "<D tool_calls>".
inline std::string markup(std::string_view text) {
  std::string out;
  for (const char c : text) c == 'D' ? out += kDsml : out += c;
  return out;
}

/// The tokens that spell a text, symbols as control tokens.
inline std::vector<TokenId> tokens_of(std::string_view text) {
  return tiny_tokenizer()->encode(text, true);
}

/// Cuts a list into chunks of `size`.
inline std::vector<Chunk> chunks_of(const std::vector<TokenId>& ids, std::size_t size) {
  std::vector<Chunk> chunks;
  for (std::size_t at = 0; at < ids.size(); at += size) {
    const std::size_t end = std::min(ids.size(), at + size);
    chunks.push_back(TokensChunk{{ids.begin() + long(at), ids.begin() + long(end)}, {}});
  }
  return chunks;
}

/// What a Chat body says.
struct Said {
  struct Call {
    std::string name;
    std::string arguments;
    friend bool operator==(const Call&, const Call&) = default;
  };
  std::string reasoning;
  std::string content;
  std::vector<Call> calls;
  std::string end;
  std::uint64_t tokens = 0;
  std::uint64_t reasoning_tokens = 0;

  friend bool operator==(const Said&, const Said&) = default;
};

inline Said said_by(std::string_view body) {
  const auto document = JsonDocument::parse(body);
  if (!document) return {.end = "no JSON: " + std::string(body)};
  const JsonTape& tape = document->tape();
  const auto at = [&](JsonTape::Index object, std::string_view key) {
    return object == JsonTape::kNone ? object : tape.find(object, key);
  };
  const auto text = [&](JsonTape::Index index) {
    return index == JsonTape::kNone ? "" : std::string(tape.text(index));
  };
  const auto number = [&](JsonTape::Index index) {
    return index == JsonTape::kNone ? 0 : json_unsigned(tape.text(index)).value_or(0);
  };
  Said said;
  tape.each(at(JsonDocument::kRoot, "choices"), [&](auto, JsonTape::Index choice) {
    const auto message = at(choice, "message");
    said.content = text(at(message, "content"));
    said.reasoning = text(at(message, "reasoning_content"));
    said.end = text(at(choice, "finish_reason"));
    const auto calls = at(message, "tool_calls");
    if (calls == JsonTape::kNone) return;
    tape.each(calls, [&](auto, JsonTape::Index call) {
      const auto function = at(call, "function");
      said.calls.push_back({text(at(function, "name")), text(at(function, "arguments"))});
    });
  });
  const auto usage = at(JsonDocument::kRoot, "usage");
  said.tokens = number(at(usage, "completion_tokens"));
  said.reasoning_tokens = number(at(at(usage, "completion_tokens_details"), "reasoning_tokens"));
  return said;
}

inline ParsingOptions content_with_tools() {
  ParsingOptions options;
  options.tools = true;
  options.initial = InitialStage::kContent;
  return options;
}

inline std::string body_of(const ParsingOptions& options, const std::vector<Chunk>& chunks,
                           EngineFinish finish = EngineFinish::kStop, AnswerOptions answer = {}) {
  StreamProcessor processor(options, answer, {.id = "i", .model = "m"}, tiny_tokenizer(),
                            Delivery::kBody);
  EventList events;
  for (const Chunk& chunk : chunks) {
    if (processor.finished()) break;
    if (!processor.push(chunk, events).ok()) return "refused";
  }
  if (!processor.finished()) (void)processor.push(FinishChunk{finish}, events);
  return processor.body();
}

/// What is said if the model writes `text` token by token.
inline Said say(std::string_view text, const ParsingOptions& options,
                EngineFinish finish = EngineFinish::kStop) {
  return said_by(body_of(options, chunks_of(tokens_of(text), 1), finish));
}

}  // namespace troupe::recipe::test
