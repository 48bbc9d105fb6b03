#include "runtime/recipe/request/chat_extensions.hpp"

#include <algorithm>
#include <array>

#include "runtime/recipe/request/extensions.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {
namespace {

/// Keys of chat_template_kwargs that are done.
constexpr std::array<std::string_view, 2> kThinkingKeys{"enable_thinking", "thinking"};

/// A parameter that is not done, and the values that ask for what is done anyway.
struct NotDone {
  std::string_view name;
  Field<JsonPart> ChatExtensions::*field;
  std::array<std::string_view, 5> harmless{"0", "false", "[]", "{}", "\"\""};
};
using Extensions = ChatExtensions;

const NotDone kNotDone[] = {
    {"best_of", &Extensions::best_of, {"1"}},
    {"use_beam_search", &Extensions::use_beam_search},
    {"repetition_penalty", &Extensions::repetition_penalty, {"1", "1.0"}},
    {"length_penalty", &Extensions::length_penalty, {"1", "1.0"}},
    {"stop_token_ids", &Extensions::stop_token_ids},
    {"include_stop_str_in_output", &Extensions::include_stop_str_in_output},
    {"bad_words", &Extensions::bad_words},
    {"allowed_token_ids", &Extensions::allowed_token_ids},
    {"prompt_logprobs", &Extensions::prompt_logprobs},
    {"return_token_ids", &Extensions::return_token_ids},
    {"skip_special_tokens", &Extensions::skip_special_tokens, {"true"}},
    {"echo", &Extensions::echo},
    {"add_generation_prompt", &Extensions::add_generation_prompt, {"true"}},
    {"continue_final_message", &Extensions::continue_final_message},
    {"chat_template", &Extensions::chat_template},
    {"truncate_prompt_tokens", &Extensions::truncate_prompt_tokens, {"0", "-1"}},
    {"guided_json", &Extensions::guided_json, {}},
    {"guided_regex", &Extensions::guided_regex, {}},
    {"guided_choice", &Extensions::guided_choice, {}},
    {"guided_grammar", &Extensions::guided_grammar, {}},
    {"structured_outputs", &Extensions::structured_outputs},
    {"json_schema", &Extensions::json_schema, {}},
    {"regex", &Extensions::regex, {}},
    {"ebnf", &Extensions::ebnf, {}},
    {"lora_path", &Extensions::lora_path},
    {"functions", &Extensions::functions},
    {"function_call", &Extensions::function_call, {"\"none\""}},
    {"audio", &Extensions::audio},
    {"modalities", &Extensions::modalities, {R"(["text"])"}},
    {"web_search_options", &Extensions::web_search_options},
};

class Reader {
 public:
  Reader(const ChatBody& body, Conversion& conversion)
      : body_(body), conversion_(conversion), issues_(conversion.issues) {}

  bool run() {
    if (!refuse_what_is_not_done()) return false;
    ConversationRequest& request = conversion_.request;
    request.parsing.one_call =
        body_.parallel_tool_calls.given() && !body_.parallel_tool_calls.value;
    request.sampling.clamp_tokens = !conversion_.options.reject_tokens_over_room;
    request.sampling.ignore_eos = body_.ignore_eos.given() && body_.ignore_eos.value;
    if (body_.user.given() && conversion_.tape.kind(body_.user.value.index) == JsonKind::kString) {
      request.user = conversion_.tape.text(body_.user.value.index);
    }
    return read_top_k(body_.top_k, conversion_) && read_min_p(body_.min_p, conversion_) &&
           read_logit_bias(body_.logit_bias, conversion_) &&
           read_tokens_min(body_.min_tokens, conversion_);
  }

 private:
  bool refuse_what_is_not_done() {
    for (const NotDone& refused : kNotDone) {
      const Field<JsonPart>& field = body_.*refused.field;
      if (!field.given() || is_harmless(refused, field.value.index)) continue;
      return issues_.unsupported(std::string(refused.name), "leave it out");
    }
    return template_is_done();
  }

  bool is_harmless(const NotDone& refused, JsonTape::Index value) const {
    std::string text;
    conversion_.tape.print(value, kCompactJson, text);
    return std::any_of(
        refused.harmless.begin(), refused.harmless.end(),
        [&](std::string_view harmless) { return !harmless.empty() && text == harmless; });
  }

  /// Of a template's arguments only thinking has a meaning here.
  bool template_is_done() {
    if (!body_.chat_template_kwargs.given()) return true;
    const JsonTape& tape = conversion_.tape;
    const JsonTape::Index arguments = body_.chat_template_kwargs.value.index;
    if (tape.kind(arguments) != JsonKind::kObject) {
      return issues_.rule("'chat_template_kwargs' must be an object", "chat_template_kwargs");
    }
    bool right = true;
    tape.each(arguments, [&](std::string_view key, JsonTape::Index value) {
      const JsonKind kind = tape.kind(value);
      const bool known =
          std::find(kThinkingKeys.begin(), kThinkingKeys.end(), key) != kThinkingKeys.end();
      if (!right || (known && (kind == JsonKind::kTrue || kind == JsonKind::kFalse))) return;
      right = issues_.unsupported("chat_template_kwargs." + excerpt(key, 40),
                                  "only enable_thinking, true or false, is known");
    });
    return right;
  }

  const ChatBody& body_;
  Conversion& conversion_;
  Issues& issues_;
};

}  // namespace

std::optional<bool> template_thinking(const ChatBody& body, const JsonTape& tape) {
  if (!body.chat_template_kwargs.given()) return std::nullopt;
  for (const std::string_view key : kThinkingKeys) {
    const JsonTape::Index value = tape.find(body.chat_template_kwargs.value.index, key);
    if (value == JsonTape::kNone) continue;
    if (tape.kind(value) == JsonKind::kTrue) return true;
    if (tape.kind(value) == JsonKind::kFalse) return false;
  }
  return std::nullopt;
}

bool read_chat_extensions(const ChatBody& body, Conversion& conversion) {
  return Reader(body, conversion).run();
}

}  // namespace troupe::recipe
