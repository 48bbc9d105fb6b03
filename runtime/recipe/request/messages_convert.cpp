#include "runtime/recipe/request/messages_convert.hpp"

#include <utility>

#include "runtime/recipe/request/messages_turns.hpp"
#include "runtime/recipe/request/sampling.hpp"
#include "runtime/recipe/request/tools.hpp"

namespace troupe::recipe {
namespace {

/// How the Anthropic coding CLI begins its system prompt: an account of itself that differs from
/// session to session, so that no two prompts would share a prefix. It is not for the model.
constexpr std::string_view kBillingHeader = "x-anthropic-billing-header:";

/// Steps in the order in which the reference finds errors.
class MessagesConverter {
 public:
  MessagesConverter(const MessagesBody& body, Conversion& conversion)
      : body_(body),
        conversion_(conversion),
        issues_(conversion.issues),
        tools_(conversion.tape, conversion.issues) {}

  bool run() {
    conversion_.request.answer.protocol = Protocol::kMessages;
    if (!read_model(body_.model, conversion_) || !has_no_thread()) return false;
    set_thinking(thinking_of(body_.thinking, body_.output_config.value.effort,
                             conversion_.options.default_thinking),
                 choice().must_call() && !body_.tools.value.empty(), conversion_);
    return read_tools() && read_messages() && finish_tools() && read_format() && read_sampling() &&
           check_ordinary_model(conversion_) && (conversion_.compat() || read_extensions());
  }

 private:
  /// Messages kept at the server. Without them the turn that follows would lack its beginning, so
  /// the first one is refused already; the SDK then sends whole conversations.
  bool has_no_thread() {
    if (conversion_.compat() || !body_.thread.given()) return true;
    return issues_.unsupported("thread", "send the whole conversation in every request",
                               "thread_unsupported_request");
  }

  bool read_tools() {
    bool all_deferred = true;
    for (std::size_t i = 0; i < body_.tools.value.size(); ++i) {
      const MessagesTool& body = body_.tools.value[i].value;
      const std::string path = "tools[" + std::to_string(i) + "]";
      const std::string_view type = body.type.value;
      if (body.type.given() && (conversion_.compat() || type != "custom")) {
        if (type.starts_with("web_search") && !conversion_.options.messages_web_search_rejected) {
          continue;
        }
        return issues_.rule(path + ": server tools are not supported", path);
      }
      if (!check_tool_name(body.name.value, path + ".name", issues_)) return false;
      DeclaredTool tool;
      tool.name = body.name.value;
      if (body.description.given()) tool.description = body.description.value;
      tool.parameters_required = true;
      tool.parameters = body.input_schema.value.index;
      tool.deferred = body.defer_loading.value && !conversion_.is_v4();
      all_deferred = all_deferred && tool.deferred;
      tools_.add(std::move(tool));
    }
    return tools_.empty() || !all_deferred ||
           issues_.rule(
               "tools: at least one tool must have defer_loading=false. All tools cannot be "
               "deferred.",
               "tools");
  }

  bool read_messages() {
    read_system();
    const bool refused = choice().kind == ChoiceKind::kNone;
    if (!convert_messages_turns(body_.messages.value, tools_, refused, conversion_)) return false;
    return !conversion_.options.reject_missing_reasoning ||
           !lacks_reasoning(conversion_.request.conversation, !tools_.empty() && !refused) ||
           issues_.rule(
               "The `content[].thinking` in the thinking mode must be passed back to the API.",
               "messages");
  }

  void read_system() {
    if (!body_.system.given()) return;
    const auto& system = body_.system.value;
    Message message;
    message.role = Role::kSystem;
    if (!system.is_container) message.parts.emplace_back(std::string(system.scalar));
    bool first = !conversion_.compat();
    for (const auto& block : system.container) {
      const std::string_view text = block.value.text.value;
      if (std::exchange(first, false) && text.starts_with(kBillingHeader)) continue;
      message.parts.emplace_back(std::in_place_type<std::string>, text);
    }
    if (message.parts.empty() && !system.container.empty()) return;
    conversion_.request.conversation.messages.push_back(std::move(message));
  }

  DeclaredChoice choice() const {
    const MessagesToolChoice& body = body_.tool_choice.value;
    if (body.type.value == "none") return {ChoiceKind::kNone, {}};
    if (body.type.value == "tool") return {ChoiceKind::kNamed, std::string(body.name.value)};
    // The reference takes "any" for "auto".
    if (body.type.value == "any" && !conversion_.compat()) return {ChoiceKind::kRequired, {}};
    return {};
  }

  bool finish_tools() {
    Conversation& conversation = conversion_.request.conversation;
    if (!tools_.finish(choice(), conversation.thinking, conversation)) return false;
    if (!conversion_.compat()) continue_last_turn();
    return true;
  }

  /// Default mode: an assistant's text at the end is the beginning of the answer.
  void continue_last_turn() {
    if (conversion_.request.conversation.messages.empty()) return;
    Message& last = conversion_.request.conversation.messages.back();
    last.prefix = last.role == Role::kAssistant && last.calls.empty();
  }

  bool read_format() {
    if (conversion_.compat()) return true;
    for (const auto* format : {&body_.output_config.value.format, &body_.output_format}) {
      if (format->given() &&
          !set_json_schema(format->value.schema.value.index, false, conversion_)) {
        return false;
      }
    }
    return true;
  }

  bool read_sampling() {
    ConversationRequest& request = conversion_.request;
    finish_parsing(conversion_);
    request.stream = body_.stream.value;
    const std::string_view stop = conversion_.compat() ? "stop" : "stop_sequences";
    if (!read_stops(body_.stop_sequences.value, stop, request.parsing.stops, issues_)) return false;
    SamplingReader reader(conversion_.options, request, issues_);
    return reader.temperature(body_.temperature) && reader.top_p(body_.top_p) &&
           reader.tokens_max(body_.max_tokens, "max_tokens", true);
  }

  /// Whatever would change the answer and is not done is named, never ignored.
  bool read_extensions() {
    ConversationRequest& request = conversion_.request;
    request.sampling.clamp_tokens = !conversion_.options.reject_tokens_over_room;
    request.user = body_.metadata.value.user_id.value;
    const std::pair<std::string_view, const Field<JsonPart>*> refused[] = {
        {"container", &body_.container},
        {"mcp_servers", &body_.mcp_servers},
        {"compaction", &body_.compaction},
    };
    for (const auto& [name, field] : refused) {
      const bool empty = field->got == JsonKind::kArray || field->got == JsonKind::kObject
                             ? conversion_.tape.count(field->value.index) == 0
                             : false;
      if (field->given() && !empty) {
        return issues_.unsupported(std::string(name), name == "compaction"
                                                          ? "this server writes no summaries"
                                                          : "this server has no tools of its own");
      }
    }
    request.parsing.one_call = body_.tool_choice.value.disable_parallel_tool_use.value;
    return read_top_k();
  }

  bool read_top_k() {
    if (!body_.top_k.given()) return true;
    constexpr std::uint64_t kTopKMax = 1 << 30;
    const JsonTape::Index value = body_.top_k.value.index;
    if (conversion_.tape.kind(value) == JsonKind::kNumber) {
      const auto k =
          whole_number({conversion_.tape.text(value)}, kTopKMax, conversion_.options.compat);
      conversion_.request.sampling.top_k = static_cast<std::uint32_t>(k.value_or(0));
      if (k) return true;
    }
    return issues_.rule("Invalid top_k value, the valid range of top_k is [0, 2^30]", "top_k");
  }

  const MessagesBody& body_;
  Conversion& conversion_;
  Issues& issues_;
  ToolSet tools_;
};

}  // namespace

bool convert_messages(const MessagesBody& body, Conversion& conversion) {
  return MessagesConverter(body, conversion).run();
}

}  // namespace troupe::recipe
