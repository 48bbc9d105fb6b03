#include "runtime/recipe/request/chat_convert.hpp"

#include <algorithm>

#include "runtime/recipe/request/chat_extensions.hpp"
#include "runtime/recipe/request/chat_messages.hpp"
#include "runtime/recipe/request/extensions.hpp"
#include "runtime/recipe/request/sampling.hpp"
#include "runtime/recipe/request/tools.hpp"

namespace troupe::recipe {
namespace {

/// Steps in the order in which the reference finds errors.
class ChatConverter {
 public:
  ChatConverter(const ChatBody& body, Conversion& conversion)
      : body_(body),
        conversion_(conversion),
        issues_(conversion.issues),
        tools_(conversion.tape, conversion.issues) {}

  bool run() {
    conversion_.request.answer.protocol = Protocol::kChat;
    return read_model(body_.model, conversion_) && read_tools() && read_messages() &&
           read_format_kind() && finish_tools() && check_prefix() && read_stop_and_stream() &&
           read_schema() && check_format_and_tools(body_.response_format.given(), conversion_) &&
           read_sampling() && check_ordinary_model(conversion_) &&
           (conversion_.compat() || read_chat_extensions(body_, conversion_));
  }

 private:
  bool read_tools() {
    set_thinking(thinking(), choice().must_call() && !body_.tools.value.empty(), conversion_);
    for (std::size_t i = 0; i < body_.tools.value.size(); ++i) {
      const ChatToolFunction& function = body_.tools.value[i].value.function.value;
      const std::string path = "tools[" + std::to_string(i) + "].function.name";
      if (!check_tool_name(function.name.value, path, issues_)) return false;
      DeclaredTool tool;
      tool.name = function.name.value;
      if (function.description.given()) tool.description = function.description.value;
      if (function.parameters.given()) tool.parameters = function.parameters.value.index;
      if (function.strict.given()) tool.strict = function.strict.value;
      tools_.add(std::move(tool));
    }
    return true;
  }

  Thinking thinking() const {
    Thinking result =
        thinking_of(body_.thinking, body_.reasoning_effort, conversion_.options.default_thinking);
    const auto template_says =
        conversion_.compat() ? std::nullopt : template_thinking(body_, conversion_.tape);
    if (!result.asked && template_says) {
      result.on = *template_says;
      result.asked = true;
    }
    return result;
  }

  bool read_messages() {
    if (!convert_chat_messages(body_.messages.value, conversion_)) return false;
    const Message* last = conversion_.last_message();
    for (const Message& message : conversion_.request.conversation.messages) {
      if (!message.prefix) continue;
      if (&message == last && body_.messages.value.back().value.role.value == "assistant") break;
      return issues_.rule(
          "Invalid completion message: prefix set true with message which is not final message or "
          "message role is not assistant",
          "messages");
    }
    return !conversion_.options.reject_missing_reasoning || reasoning_is_there();
  }

  /// What a prefix excludes; for the reference that are also calls of the past.
  bool check_prefix() {
    const Message* last = conversion_.last_message();
    if (last == nullptr || !last->prefix) return true;
    if (conversion_.request.conversation.format.kind == FormatKind::kJsonObject) {
      return issues_.rule("response_format json_object should not be used with prefix", "messages");
    }
    const auto& messages = conversion_.request.conversation.messages;
    const bool calls =
        conversion_.compat()
            ? std::any_of(messages.begin(), messages.end(),
                          [](const Message& message) { return !message.calls.empty(); })
            : !last->calls.empty();
    return (tools_.empty() && !calls) ||
           issues_.rule("Function call should not be used with prefix", "messages");
  }

  bool reasoning_is_there() {
    const bool has_tools = !tools_.empty() && choice().kind != ChoiceKind::kNone;
    return !lacks_reasoning(conversion_.request.conversation, has_tools) ||
           issues_.rule(
               "The `reasoning_content` in the thinking mode must be passed back to the API.",
               "messages");
  }

  bool read_format_kind() {
    if (!body_.response_format.given()) return true;
    const ChatFormat& body = body_.response_format.value;
    Conversation& conversation = conversion_.request.conversation;
    if (body.type.value == "json_object") {
      conversation.format.kind = FormatKind::kJsonObject;
      conversion_.request.sampling.constraint = OutputConstraint{"json", ""};
      const bool refused_anyway =
          !conversion_.compat() && conversion_.version() == ModelVersion::kChatml;
      if (!refused_anyway && !says_json(conversation)) {
        return issues_.rule(
            "Prompt must contain the word 'json' in some form to use 'response_format' of type "
            "'json_object'.",
            "messages");
      }
      return true;
    }
    if (body.type.value == "regex") {
      conversation.format = {FormatKind::kRegex, std::string(body.regex.value)};
      conversion_.request.sampling.constraint =
          OutputConstraint{"regex", std::string(body.regex.value)};
    }
    return true;
  }

  bool finish_tools() {
    Conversation& conversation = conversion_.request.conversation;
    return tools_.finish(choice(), conversation.thinking, conversation);
  }

  DeclaredChoice choice() const {
    const auto& choice = body_.tool_choice.value;
    if (!body_.tool_choice.given()) return {};
    if (choice.is_container) {
      return {ChoiceKind::kNamed, std::string(choice.container.function.value.name.value)};
    }
    if (choice.scalar == "none") return {ChoiceKind::kNone, {}};
    if (choice.scalar == "required") return {ChoiceKind::kRequired, {}};
    return {};
  }

  bool read_stop_and_stream() {
    ConversationRequest& request = conversion_.request;
    if (!read_stops(body_.stop, "stop", request.parsing.stops, issues_)) return false;
    request.stream = body_.stream.given() && body_.stream.value;
    if (!body_.stream_options.given()) return true;
    const auto& usage = body_.stream_options.value.include_usage;
    request.answer.include_usage = request.stream && usage.given() && usage.value;
    if (request.stream || !conversion_.compat()) return true;
    return issues_.rule("stream_options should be set along with stream = true", "stream_options");
  }

  bool read_schema() {
    if (!body_.response_format.given()) return true;
    const ChatFormat& body = body_.response_format.value;
    if (body.type.value == "json_schema") {
      const ChatJsonSchema& schema = body.json_schema.value;
      const bool strict = schema.strict.given() && schema.strict.value;
      if (!set_json_schema(schema.schema.value.index, strict, conversion_)) return false;
    }
    return true;
  }

  bool read_sampling() {
    finish_parsing(conversion_);
    Sampling& sampling = conversion_.request.sampling;
    SamplingReader reader(conversion_.options, conversion_.request, issues_);
    if (!read_choices(body_.n, conversion_) ||
        !reader.penalty(body_.presence_penalty, "presence_penalty") ||
        !reader.penalty(body_.frequency_penalty, "frequency_penalty") ||
        !reader.temperature(body_.temperature) || !reader.top_p(body_.top_p)) {
      return false;
    }
    sampling.logprobs = body_.logprobs.given() && body_.logprobs.value;
    if (body_.top_logprobs.given() && !sampling.logprobs) {
      return issues_.rule(
          "Invalid top_logprobs and logprobs value, logprobs must be set to true if top_logprobs "
          "is used.",
          "top_logprobs");
    }
    return reader.top_logprobs(body_.top_logprobs) &&
           reader.tokens_max(body_.max_tokens, "max_tokens") && reader.seed(body_.seed) &&
           (conversion_.compat() ||
            reader.tokens_max(body_.max_completion_tokens, "max_completion_tokens"));
  }

  const ChatBody& body_;
  Conversion& conversion_;
  Issues& issues_;
  ToolSet tools_;
};

}  // namespace

bool convert_chat(const ChatBody& body, Conversion& conversion) {
  return ChatConverter(body, conversion).run();
}

}  // namespace troupe::recipe
