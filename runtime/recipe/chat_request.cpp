#include "runtime/recipe/chat_request.hpp"

#include <charconv>
#include <limits>

#include "runtime/recipe/json_reader.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

constexpr std::size_t kStopsMax = 16;
constexpr std::size_t kStopBytesMax = 1024;
constexpr std::size_t kBiasMax = 1024;
constexpr std::int64_t kTopLogprobsMax = 20;
constexpr std::int64_t kTokensMax = 1 << 30;

constexpr const char* kNoTools = "tools are not supported yet by this model";

class Reader {
 public:
  explicit Reader(const JsonValue& body) : body_(body, "", error_) {}

  ParsedChatRequest run() {
    read_basics();
    read_messages();
    read_sampling();
    read_stop();
    read_logit_bias();
    read_logprobs();
    refuse_what_is_not_done();
    if (error_) return *std::move(error_);
    return std::move(request_);
  }

 private:
  void read_basics() {
    request_.model = body_.string("model").value_or("");
    request_.user = body_.string("user").value_or("");
    request_.stream = body_.boolean("stream").value_or(false);
    request_.ignore_eos = body_.boolean("ignore_eos").value_or(false);
    if (const JsonValue* options = body_.object("stream_options")) {
      const JsonFields fields(*options, "stream_options", error_);
      request_.include_usage = request_.stream && fields.boolean("include_usage").value_or(false);
    }
    const auto old_limit = body_.integer("max_tokens", 1, kTokensMax);
    const auto limit = body_.integer("max_completion_tokens", 1, kTokensMax);
    if (limit || old_limit) {
      request_.tokens_max = static_cast<std::uint32_t>(limit ? *limit : *old_limit);
    }
  }

  void read_sampling() {
    request_.temperature = body_.real("temperature", 0, 2);
    request_.top_p = body_.real("top_p", 0, 1);
    if (request_.top_p == 0.0) body_.fail("top_p", "'top_p' must be above 0");
    request_.min_p = body_.real("min_p", 0, 1);
    // -1 and 0 both mean "off" in the field.
    if (const auto k = body_.integer("top_k", -1, kTokensMax)) {
      request_.top_k = static_cast<std::uint32_t>(*k < 0 ? 0 : *k);
    }
    constexpr auto kSeedMin = std::numeric_limits<std::int64_t>::min();
    constexpr auto kSeedMax = std::numeric_limits<std::int64_t>::max();
    if (const auto seed = body_.integer("seed", kSeedMin, kSeedMax)) {
      request_.seed = static_cast<std::uint64_t>(*seed);
    }
  }

  void read_messages() {
    const JsonValue* messages = body_.array("messages");
    if (messages == nullptr || messages->Empty()) {
      body_.fail("messages", "'messages' must be a list with at least one message");
      return;
    }
    for (rapidjson::SizeType i = 0; i < messages->Size() && !error_; ++i) {
      const std::string path = "messages[" + std::to_string(i) + "]";
      const JsonValue& message = (*messages)[i];
      if (message.IsObject()) {
        read_message(JsonFields(message, path, error_), path);
      } else {
        body_.fail(invalid_parameter(path, "'" + path + "' must be an object"));
      }
    }
  }

  void read_message(const JsonFields& fields, const std::string& path) {
    const auto role = fields.string("role");
    ChatMessage message;
    if (role == "system" || role == "developer") {
      message.role = Role::kSystem;
    } else if (role == "assistant") {
      message.role = Role::kAssistant;
    } else if (role == "tool" || role == "function") {
      fields.fail(unsupported_parameter(path + ".role", kNoTools));
      return;
    } else if (role != "user") {
      const std::string given = role ? ", not '" + excerpt(*role, 40) + "'" : "";
      fields.fail("role",
                  "'" + path + ".role' must be system, developer, user or assistant" + given);
      return;
    }
    const JsonValue* calls = fields.array("tool_calls");
    if (calls != nullptr && !calls->Empty()) {
      fields.fail(unsupported_parameter(path + ".tool_calls", kNoTools));
    }
    read_content(fields, path, message);
    request_.messages.push_back(std::move(message));
  }

  void read_content(const JsonFields& fields, const std::string& path, ChatMessage& message) {
    const JsonValue* content = fields.find("content");
    if (content == nullptr) {
      if (message.role != Role::kAssistant) {
        fields.fail("content", "'" + path + ".content' is missing");
      }
    } else if (content->IsArray()) {
      for (rapidjson::SizeType i = 0; i < content->Size() && !error_; ++i) {
        const std::string part_path = path + ".content[" + std::to_string(i) + "]";
        if (!(*content)[i].IsObject()) {
          fields.fail(invalid_parameter(part_path, "'" + part_path + "' must be an object"));
          return;
        }
        if (i > 0) message.text += '\n';
        read_part(JsonFields((*content)[i], part_path, error_), part_path, message.text);
      }
    } else if (content->IsString()) {
      message.text = fields.string("content").value_or("");
    } else {
      fields.fail("content", "'" + path + ".content' must be a string or a list of parts");
    }
  }

  void read_part(const JsonFields& fields, const std::string& path, std::string& text) {
    const std::string type = fields.string("type").value_or("");
    if (type != "text" && type != "refusal") {
      fields.fail(unsupported_parameter(
          path + ".type", "'" + path + "' is of type '" + excerpt(type, 40) +
                              "'; this model takes text parts only, no images, audio or files"));
      return;
    }
    const auto part = fields.string(type.c_str());
    if (!part) fields.fail(type.c_str(), "'" + path + "." + type + "' is missing");
    text += part.value_or("");
  }

  void read_stop() {
    const JsonValue* stop = body_.find("stop");
    if (stop == nullptr) return;
    if (stop->IsString()) {
      add_stop(*stop, "stop");
    } else if (stop->IsArray() && stop->Size() <= kStopsMax) {
      for (rapidjson::SizeType i = 0; i < stop->Size(); ++i) {
        add_stop((*stop)[i], "stop[" + std::to_string(i) + "]");
      }
    } else {
      body_.fail("stop", "'stop' must be a string or a list of at most " +
                             std::to_string(kStopsMax) + " strings");
    }
  }

  void add_stop(const JsonValue& value, const std::string& path) {
    const bool usable = value.IsString() && value.GetStringLength() > 0 &&
                        value.GetStringLength() <= kStopBytesMax && is_valid_utf8(string_of(value));
    if (usable) {
      request_.stop.emplace_back(string_of(value));
    } else {
      body_.fail(invalid_parameter(path, "'" + path + "' must be a string of 1 to " +
                                             std::to_string(kStopBytesMax) + " bytes"));
    }
  }

  void read_logit_bias() {
    const JsonValue* biases = body_.object("logit_bias");
    if (biases == nullptr) return;
    if (biases->MemberCount() > kBiasMax) {
      body_.fail("logit_bias",
                 "'logit_bias' has more than " + std::to_string(kBiasMax) + " entries");
      return;
    }
    for (const auto& [name, value] : biases->GetObject()) {
      const std::string_view key = string_of(name);
      std::int32_t id = -1;
      const auto end = std::from_chars(key.data(), key.data() + key.size(), id).ptr;
      const bool is_id = !key.empty() && end == key.data() + key.size() && id >= 0;
      const double bias = value.IsNumber() ? value.GetDouble() : 1000;
      if (!is_id || !(bias >= -100 && bias <= 100)) {
        body_.fail("logit_bias", "'logit_bias' has the entry '" + excerpt(key, 40) +
                                     "', which is not a token id with a bias from -100 to 100");
        return;
      }
      request_.logit_bias.emplace_back(TokenId(id), static_cast<float>(bias));
    }
  }

  void read_logprobs() {
    request_.logprobs = body_.boolean("logprobs").value_or(false);
    const auto top = body_.integer("top_logprobs", 0, kTopLogprobsMax).value_or(0);
    request_.top_logprobs = static_cast<std::uint32_t>(top);
    if (top > 0 && !request_.logprobs) {
      body_.fail("top_logprobs", "'top_logprobs' needs 'logprobs' to be true");
    }
  }

  void refuse_what_is_not_done() {
    if (const auto n = body_.integer("n", 1, 128); n && *n > 1) {
      body_.fail(unsupported_parameter("n", "'n' must be 1: more choices are not supported yet"));
    }
    const JsonValue* choice = body_.find("tool_choice");
    const bool none = choice != nullptr && choice->IsString() && string_of(*choice) == "none";
    for (const char* name : {"tools", "functions"}) {
      const JsonValue* tools = body_.array(name);
      if (tools != nullptr && !tools->Empty() && !none) {
        body_.fail(unsupported_parameter(name, kNoTools));
      }
    }
    for (const char* name : {"presence_penalty", "frequency_penalty"}) {
      if (body_.real(name, -2, 2).value_or(0) != 0) {
        body_.fail(unsupported_parameter(name, "'" + std::string(name) + "' is not supported yet"));
      }
    }
    if (const JsonValue* format = body_.object("response_format")) {
      const JsonFields fields(*format, "response_format", error_);
      if (fields.string("type").value_or("") != "text") {
        fields.fail(unsupported_parameter("response_format.type",
                                          "only the response format 'text' is supported yet"));
      }
    }
  }

  std::optional<ApiError> error_;
  JsonFields body_;
  ChatRequest request_;
};

}  // namespace

ParsedChatRequest parse_chat_request(std::string_view body) {
  auto parsed = parse_json(body);
  if (auto* error = std::get_if<ApiError>(&parsed)) return std::move(*error);
  return Reader(std::get<rapidjson::Document>(parsed)).run();
}

}  // namespace troupe
