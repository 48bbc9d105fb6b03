#include "actors/traffic/prompt_maker.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <limits>

#include "actors/traffic/image_bytes.hpp"
#include "actors/traffic/prompt_text.hpp"

namespace troupe {

namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

// The template around a chat (ChatML): two markers, a role's name and line breaks for each message,
// and the beginning of the answer.
constexpr std::uint32_t kTemplateTokens = 7;
constexpr std::uint32_t kMessageTokens = 5;

struct ChatMessage {
  PieceRole role;
  std::string text;
};

const char* role_name(PieceRole role) {
  switch (role) {
    case PieceRole::kSystem:
      return "system";
    case PieceRole::kUser:
      return "user";
    case PieceRole::kAssistant:
      return "assistant";
  }
  return "user";
}

std::uint32_t count_messages(const PromptPieces& pieces) {
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i == 0 || pieces[i].role != pieces[i - 1].role) ++count;
  }
  return count;
}

std::vector<ChatMessage> messages_of(const PromptPieces& pieces,
                                     std::span<const std::string> answers) {
  const std::uint32_t overhead = kTemplateTokens + kMessageTokens * count_messages(pieces);
  std::vector<ChatMessage> messages;
  std::size_t answered = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const PromptPiece& piece = pieces[i];
    if (messages.empty() || messages.back().role != piece.role)
      messages.push_back({piece.role, ""});
    std::string& text = messages.back().text;
    if (piece.role == PieceRole::kAssistant && answered < answers.size()) {
      text += answers[answered++];
      continue;
    }
    const bool last = i + 1 == pieces.size();
    const std::uint32_t given_up = last ? std::min(overhead, piece.tokens - 1) : 0;
    append_words(text, piece.content, piece.tokens - given_up);
  }
  return messages;
}

void put_text(Json& json, const std::string& text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put_parts(Json& json, const std::string& text, const std::vector<PromptImage>& images) {
  json.StartArray();
  for (const PromptImage& image : images) {
    json.StartObject();
    json.Key("type"), json.String("image_url");
    json.Key("image_url"), json.StartObject();
    json.Key("url"), put_text(json, image_url(image));
    json.EndObject();
    json.EndObject();
  }
  json.StartObject();
  json.Key("type"), json.String("text");
  json.Key("text"), put_text(json, text);
  json.EndObject();
  json.EndArray();
}

void put_messages(Json& json, const PlannedRequest& planned, std::span<const std::string> answers) {
  bool with_images = !planned.images.empty();
  json.Key("messages"), json.StartArray();
  for (const ChatMessage& message : messages_of(planned.prompt, answers)) {
    json.StartObject();
    json.Key("role"), json.String(role_name(message.role));
    json.Key("content");
    if (with_images && message.role == PieceRole::kUser) {
      put_parts(json, message.text, planned.images);
      with_images = false;
    } else {
      put_text(json, message.text);
    }
    json.EndObject();
  }
  json.EndArray();
}

void put_tools(Json& json, std::uint32_t count) {
  if (count == 0) return;
  json.Key("tools"), json.StartArray();
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string name = "lookup_" + std::to_string(i + 1);
    json.StartObject();
    json.Key("type"), json.String("function");
    json.Key("function"), json.StartObject();
    json.Key("name"), put_text(json, name);
    json.Key("description"), json.String("Looks something up and says what was found");
    json.Key("parameters");
    constexpr std::string_view kSchema =
        R"({"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},)"
        R"("required":["query"]})";
    json.RawValue(kSchema.data(), kSchema.size(), rapidjson::kObjectType);
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void ChatPrompts::fill(HttpArrived& request, const PlannedRequest& planned,
                       std::span<const std::string> answers) const {
  request.method = "POST";
  request.path = options_.path;
  request.headers.emplace_back("content-type", "application/json");
  if (!options_.authorization.empty()) {
    request.headers.emplace_back("authorization", options_.authorization);
  }
  if (planned.in_session) {
    request.headers.emplace_back("x-session-id", "troupe-" + std::to_string(planned.session));
  }
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  if (!options_.model.empty()) json.Key("model"), json.String(options_.model.c_str());
  put_messages(json, planned, answers);
  put_tools(json, planned.tools);
  json.Key("stream"), json.Bool(true);
  json.Key("stream_options"), json.StartObject();
  json.Key("include_usage"), json.Bool(true);
  json.EndObject();
  json.Key("max_tokens"), json.Uint(planned.output_tokens);
  if (options_.ignore_eos) json.Key("ignore_eos"), json.Bool(true);
  json.EndObject();
  request.body.assign(buffer.GetString(), buffer.GetSize());
  if (options_.extra_body.empty()) return;
  request.body.pop_back();
  request.body += "," + options_.extra_body + "}";
}

}  // namespace troupe
