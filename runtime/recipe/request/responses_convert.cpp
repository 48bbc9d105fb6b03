#include "runtime/recipe/request/responses_convert.hpp"

#include "runtime/recipe/request/responses_items.hpp"
#include "runtime/recipe/request/sampling.hpp"

namespace troupe::recipe {
namespace {

/// Steps in the order in which the reference finds errors.
class ResponsesConverter {
 public:
  ResponsesConverter(const ResponsesBody& body, Conversion& conversion)
      : body_(body), conversion_(conversion), issues_(conversion.issues), tools_(conversion) {}

  bool run() {
    ConversationRequest& request = conversion_.request;
    request.answer.protocol = Protocol::kResponses;
    const bool right = read_model(body_.model, conversion_) && read_input() &&
                       reasoning_is_there() && finish_tools() && read_format() &&
                       check_format_and_tools(has_format(), conversion_) && read_sampling() &&
                       check_ordinary_model(conversion_) &&
                       (conversion_.compat() || refuse_what_is_not_done());
    if (right) request.answer.echo = responses_echo(body_, conversion_);
    return right;
  }

 private:
  bool read_input() {
    set_thinking(thinking_of(body_.reasoning.value.effort, conversion_.options.default_thinking),
                 choice().must_call() && !body_.tools.value.empty(), conversion_);
    if (!tools_.read(body_.tools.value)) return false;
    const auto& input = body_.input;
    auto& messages = conversion_.request.conversation.messages;
    if (!body_.instructions.value.empty()) add_text(Role::kSystem, body_.instructions.value);
    if (!input.given()) {
      return !messages.empty() ||
             issues_.rule("Either input or instructions must be provided", "input");
    }
    if (!input.value.is_container) return add_text(Role::kUser, input.value.scalar), true;
    if (input.value.container.empty()) {
      return issues_.rule("Input items array must not be empty", "input");
    }
    return convert_responses_items(input.value.container, refuses_tools(), tools_, conversion_);
  }

  void add_text(Role role, std::string_view text) {
    Message message;
    message.role = role;
    message.parts.emplace_back(std::in_place_type<std::string>, text);
    conversion_.request.conversation.messages.push_back(std::move(message));
  }

  bool refuses_tools() const { return choice().kind == ChoiceKind::kNone; }

  bool reasoning_is_there() {
    return !conversion_.options.reject_missing_reasoning ||
           !lacks_reasoning(conversion_.request.conversation,
                            !tools_.set().empty() && !refuses_tools()) ||
           issues_.rule("The `reasoning_text` in the thinking mode must be passed back to the API.",
                        "input");
  }

  bool finish_tools() {
    Conversation& conversation = conversion_.request.conversation;
    return tools_.set().finish(choice(), conversation.thinking, conversation);
  }

  DeclaredChoice choice() const {
    const auto& choice = body_.tool_choice.value;
    if (!body_.tool_choice.given()) return {};
    if (choice.is_container) {
      if (choice.container.type.value.starts_with("web_search")) return {};
      return {ChoiceKind::kNamed, std::string(choice.container.name.value)};
    }
    if (choice.scalar == "none") return {ChoiceKind::kNone, {}};
    if (choice.scalar == "required") return {ChoiceKind::kRequired, {}};
    return {};
  }

  bool read_format() {
    const ResponsesFormat& format = body_.text.value.format.value;
    Conversation& conversation = conversion_.request.conversation;
    if (format.type.value == "json_schema") {
      return set_json_schema(format.schema.value.index, format.strict.value, conversion_);
    }
    if (format.type.value != "json_object") return true;
    conversation.format.kind = FormatKind::kJsonObject;
    conversion_.request.sampling.constraint = OutputConstraint{"json", ""};
    return says_json(conversation) ||
           issues_.rule(
               "Response input messages must contain the word 'json' in some form to use "
               "'text.format' of type 'json_object'.",
               "input");
  }

  /// Unlike Chat, plain text counts for none.
  bool has_format() const {
    const FormatKind kind = conversion_.request.conversation.format.kind;
    return kind != FormatKind::kText;
  }

  bool read_sampling() {
    ConversationRequest& request = conversion_.request;
    finish_parsing(conversion_);
    request.stream = body_.stream.value;
    SamplingReader reader(conversion_.options, request, issues_);
    if (!reader.temperature(body_.temperature) || !reader.top_p(body_.top_p) ||
        !reader.top_logprobs(body_.top_logprobs)) {
      return false;
    }
    request.sampling.logprobs = request.sampling.top_logprobs.has_value();
    return reader.tokens_max(body_.max_output_tokens, "max_output_tokens");
  }

  /// Whatever would change the answer and is not done is named, never ignored.
  bool refuse_what_is_not_done() {
    conversion_.request.sampling.clamp_tokens = !conversion_.options.reject_tokens_over_room;
    conversion_.request.user = body_.user.value;
    if (body_.store.given()) conversion_.request.store = body_.store.value;
    const std::pair<std::string_view, const Field<JsonPart>*> refused[] = {
        {"previous_response_id", &body_.previous_response_id},
        {"conversation", &body_.conversation},
        {"prompt", &body_.prompt},
        {"background", &body_.background},
        {"truncation", &body_.truncation},
    };
    for (const auto& [name, field] : refused) {
      if (!field->given()) continue;
      const JsonTape::Index value = field->value.index;
      const JsonKind kind = conversion_.tape.kind(value);
      if (name == "background" && kind == JsonKind::kFalse) continue;
      if (name == "truncation" && conversion_.tape.text(value) == "disabled") continue;
      return issues_.unsupported(std::string(name), "leave it out");
    }
    const auto& parallel = body_.parallel_tool_calls;
    if (parallel.given() && parallel.got != JsonKind::kTrue && parallel.got != JsonKind::kFalse) {
      return issues_.rule("'parallel_tool_calls' is true or false", "parallel_tool_calls");
    }
    conversion_.request.parsing.one_call = parallel.got == JsonKind::kFalse;
    return check_metadata();
  }

  /// It is repeated in events and kept with the response: within the bounds of the public API.
  bool check_metadata() {
    constexpr std::size_t kPairsMax = 16, kKeyMax = 64, kValueMax = 512;
    const auto& metadata = body_.metadata;
    if (!metadata.given()) return true;
    const JsonTape& tape = conversion_.tape;
    const JsonTape::Index index = metadata.value.index;
    bool right = metadata.got == JsonKind::kObject && tape.count(index) <= kPairsMax;
    if (right) {
      tape.each(index, [&](std::string_view key, JsonTape::Index value) {
        right = right && key.size() <= kKeyMax && tape.kind(value) == JsonKind::kString &&
                tape.text(value).size() <= kValueMax;
      });
    }
    return right || issues_.rule(
                        "'metadata' holds at most 16 texts of at most 512 bytes, under "
                        "names of at most 64",
                        "metadata");
  }

  const ResponsesBody& body_;
  Conversion& conversion_;
  Issues& issues_;
  ResponsesTools tools_;
};

}  // namespace

bool convert_responses(const ResponsesBody& body, Conversion& conversion) {
  return ResponsesConverter(body, conversion).run();
}

}  // namespace troupe::recipe
