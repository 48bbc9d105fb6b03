// Any tokens and texts, in any chunks, through every protocol and mode: nothing crashes, every
// event and body is JSON, and in kDefault what is said does not depend on the chunks.
//
// Input: two bytes of options; then for each byte b: 0x80 to 0x9F a fragment of markup, 0xA0 the
// end of a chunk, else the token of that byte.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/stream/stream_processor.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/tokenizer/byte_tokenizer.hpp"

namespace troupe::recipe {
namespace {

class JsonEventsOnly final : public EventSink {
 public:
  void event(std::string_view, std::string_view json) override {
    TROUPE_ASSERT(JsonDocument::parse(json).has_value(), "an event is JSON");
  }
};

const std::shared_ptr<const Tokenizer>& tokenizer() {
  static const std::string symbols[] = {std::string(kThinkEnd), std::string(kDsml)};
  static const auto built = ByteTokenizer::build(symbols);
  return built;
}

std::string fragment(std::uint8_t number) {
  static const std::string d(kDsml);
  static const std::string fragments[] = {std::string(kThinkEnd),
                                          d,
                                          "<" + d + "tool_calls>\n",
                                          "</" + d + "tool_calls>",
                                          "<" + d + " calls>\n",
                                          "</" + d + " calls>",
                                          "<" + d + "function_calls>",
                                          "<" + d + "invoke name=\"f\">\n",
                                          "<" + d + " invoke name=\"",
                                          "</" + d + "invoke>\n",
                                          "<" + d + "parameter name=\"a\" string=\"true\">",
                                          "\" string=\"false\">",
                                          "<" + d + " parameter name=\"",
                                          "</" + d + "parameter>\n",
                                          "```json\n",
                                          "\n```"};
  return fragments[number % std::size(fragments)];
}

std::vector<TokensChunk> chunks_of(const std::uint8_t* data, std::size_t size) {
  std::vector<TokensChunk> chunks(1);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t byte = data[i];
    if (byte == 0xA0) {
      chunks.emplace_back();
    } else if (byte >= 0x80 && byte < 0xA0) {
      for (const TokenId id : tokenizer()->encode(fragment(byte), true)) {
        chunks.back().ids.push_back(id);
      }
    } else {
      chunks.back().ids.push_back(TokenId(byte));
    }
  }
  return chunks;
}

std::string run(const ParsingOptions& parsing, const AnswerOptions& answer,
                const std::vector<TokensChunk>& chunks, Delivery delivery) {
  StreamProcessor processor(parsing, answer, {.id = "i", .model = "m"}, tokenizer(), delivery);
  JsonEventsOnly events;
  for (const TokensChunk& chunk : chunks) {
    if (processor.finished()) break;
    const Status status = processor.push(chunk, events);
    TROUPE_ASSERT(status.ok(), "tokens are never refused");
  }
  const Status status = processor.finish(events);
  TROUPE_ASSERT(status.ok() && processor.finished(), "every answer ends");
  if (delivery == Delivery::kEvents) return {};
  std::string body = processor.body();
  TROUPE_ASSERT(JsonDocument::parse(body).has_value(), "a body is JSON");
  return body;
}

}  // namespace
}  // namespace troupe::recipe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe::recipe;
  if (size < 2) return 0;
  ParsingOptions parsing;
  parsing.compat = (data[0] & 1) != 0 ? Compat::kDeepseek : Compat::kDefault;
  parsing.tools = (data[0] & 2) != 0;
  parsing.starts_in_tools = parsing.tools && (data[0] & 4) != 0;
  parsing.json = (data[0] & 8) != 0;
  parsing.initial = static_cast<InitialStage>((data[0] >> 4) & 3);
  const bool stops = (data[0] & 0x40) != 0;
  if (stops) parsing.stops = {"ab", "bab", "\n\n", "}"};
  AnswerOptions answer;
  answer.protocol = static_cast<Protocol>(data[1] % 3);
  answer.thinking = (data[1] & 4) != 0;
  if ((data[1] & 8) != 0) answer.custom_tools = {"f"};
  const auto chunks = chunks_of(data + 2, size - 2);
  run(parsing, answer, chunks, Delivery::kEvents);
  const std::string body = run(parsing, answer, chunks, Delivery::kBody);
  if (parsing.compat == Compat::kDeepseek || stops) return 0;  // counts end with a stop's chunk
  std::vector<troupe::recipe::TokensChunk> one(1);
  for (const auto& chunk : chunks) {
    one[0].ids.insert(one[0].ids.end(), chunk.ids.begin(), chunk.ids.end());
  }
  TROUPE_ASSERT(run(parsing, answer, one, Delivery::kBody) == body, "chunks do not matter");
  return 0;
}
