#include "actors/traffic/prompt_maker.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <array>

namespace troupe {

namespace {

constexpr std::array<const char*, 32> kWords = {
    "the",  "of",   "and", "to",  "in",  "is",   "that",  "for", "it",  "as",  "was",
    "with", "be",   "by",  "on",  "not", "he",   "his",   "but", "at",  "are", "this",
    "have", "from", "or",  "had", "an",  "they", "which", "one", "you", "were"};

/// The template around a chat's one message (ChatML: two markers, two role names, line breaks).
constexpr std::uint32_t kTemplateTokens = 12;

std::string words(std::uint32_t count, Rng& rng) {
  std::string text;
  text.reserve(count * 5);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += kWords[rng.below(kWords.size())];
  }
  return text;
}

}  // namespace

void SimulatedPrompts::fill(HttpArrived& request, const Draw& draw, Rng&) const {
  request.method = "POST";
  request.path = "/v1/chat/completions";
  request.simulated = SimulatedPrompt{draw.prompt_tokens, 0};
}

void ChatPrompts::fill(HttpArrived& request, const Draw& draw, Rng& rng) const {
  request.method = "POST";
  request.path = options_.path;
  request.headers.emplace_back("content-type", "application/json");
  if (!options_.authorization.empty()) {
    request.headers.emplace_back("authorization", options_.authorization);
  }
  const std::uint32_t text_tokens =
      draw.prompt_tokens > kTemplateTokens ? draw.prompt_tokens - kTemplateTokens : 1;
  const std::string text = words(text_tokens, rng);
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  if (!options_.model.empty()) json.Key("model"), json.String(options_.model.c_str());
  json.Key("messages"), json.StartArray();
  json.StartObject();
  json.Key("role"), json.String("user");
  json.Key("content"), json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  json.EndObject();
  json.EndArray();
  json.Key("stream"), json.Bool(true);
  json.Key("stream_options"), json.StartObject();
  json.Key("include_usage"), json.Bool(true);
  json.EndObject();
  json.Key("max_tokens"), json.Uint(draw.output_tokens);
  if (options_.ignore_eos) json.Key("ignore_eos"), json.Bool(true);
  json.EndObject();
  request.body.assign(buffer.GetString(), buffer.GetSize());
}

}  // namespace troupe
