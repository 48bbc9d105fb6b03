#include "runtime/recipe/request/completions_convert.hpp"

#include <limits>

#include "runtime/recipe/request/extensions.hpp"
#include "runtime/recipe/request/sampling.hpp"

namespace troupe::recipe {
namespace {

constexpr std::uint32_t kTokensDefault = 16;  // OpenAI's
constexpr std::uint64_t kLogprobsMax = 20;    // of Chat; OpenAI's own bound here is 5

class CompletionsConverter {
 public:
  CompletionsConverter(const CompletionsBody& body, Conversion& conversion)
      : body_(body), conversion_(conversion), issues_(conversion.issues) {}

  bool run() {
    ConversationRequest& request = conversion_.request;
    request.answer.protocol = Protocol::kCompletions;
    request.conversation.thinking = false;
    request.answer.thinking = false;
    return read_model(body_.model, conversion_) && read_prompts() && read_parsing() &&
           refuse_what_is_not_done() && read_choices(body_.n, conversion_) && read_sampling() &&
           check_count();
  }

 private:
  bool read_prompts() {
    const JsonTape& tape = conversion_.tape;
    const JsonTape::Index prompt = body_.prompt.value.index;
    if (tape.kind(prompt) == JsonKind::kString) return add_text(prompt);
    if (tape.kind(prompt) != JsonKind::kArray) return wrong_prompt("prompt");
    if (tape.count(prompt) == 0) return issues_.rule("'prompt' must not be empty", "prompt");
    if (tape.kind(prompt + 1) == JsonKind::kNumber) return add_ids(prompt, "prompt");
    bool right = true;
    std::size_t i = 0;
    tape.each(prompt, [&](std::string_view, JsonTape::Index one) {
      const std::string param = "prompt[" + std::to_string(i++) + "]";
      if (!right) return;
      if (tape.kind(one) == JsonKind::kString) {
        right = add_text(one);
      } else if (tape.kind(one) == JsonKind::kArray) {
        right = add_ids(one, param);
      } else {
        right = wrong_prompt(param);
      }
    });
    return right;
  }

  bool wrong_prompt(const std::string& param) {
    return issues_.shape("'" + param + "' must be a text or a list of token ids", param);
  }

  bool add_text(JsonTape::Index text) {
    conversion_.request.prompts.push_back({std::string(conversion_.tape.text(text)), std::nullopt});
    return within_count();
  }

  bool add_ids(JsonTape::Index list, const std::string& param) {
    constexpr std::uint64_t kIdMax = std::numeric_limits<std::int32_t>::max();
    const JsonTape& tape = conversion_.tape;
    std::vector<TokenId> ids;
    bool right = true;
    tape.each(list, [&](std::string_view, JsonTape::Index id) {
      const bool number = tape.kind(id) == JsonKind::kNumber;
      const auto value =
          number ? whole_number({tape.text(id)}, kIdMax, Compat::kDefault) : std::nullopt;
      right = right && value.has_value();
      if (right) ids.emplace_back(static_cast<std::int32_t>(*value));
    });
    if (!right) return issues_.rule("'" + param + "' holds what is no token id", param);
    conversion_.request.prompts.push_back({{}, std::move(ids)});
    return within_count();
  }

  bool within_count() {
    return conversion_.request.prompts.size() <= kChoicesMax ||
           issues_.rule("'prompt' holds more than 128 prompts", "prompt");
  }

  bool check_count() {
    const ConversationRequest& request = conversion_.request;
    return request.prompts.size() * request.choices <= kChoicesMax ||
           issues_.rule("prompts times n must be at most 128", "n");
  }

  bool read_parsing() {
    ConversationRequest& request = conversion_.request;
    request.parsing.compat = conversion_.options.compat;
    request.parsing.initial = InitialStage::kContentContinuation;
    request.stream = body_.stream.value;
    request.answer.include_usage = request.stream && body_.stream_options.value.include_usage.value;
    return read_stops(body_.stop, "stop", request.parsing.stops, issues_);
  }

  bool read_sampling() {
    ConversationRequest& request = conversion_.request;
    Sampling& sampling = request.sampling;
    SamplingReader reader(conversion_.options, request, issues_);
    if (!reader.penalty(body_.presence_penalty, "presence_penalty") ||
        !reader.penalty(body_.frequency_penalty, "frequency_penalty") ||
        !reader.temperature(body_.temperature) || !reader.top_p(body_.top_p) ||
        !reader.tokens_max(body_.max_tokens, "max_tokens") || !reader.seed(body_.seed) ||
        !read_logprobs()) {
      return false;
    }
    if (!sampling.tokens_max) sampling.tokens_max = kTokensDefault;
    sampling.clamp_tokens = !conversion_.options.reject_tokens_over_room;
    sampling.ignore_eos = body_.ignore_eos.value;
    return read_top_k(body_.top_k, conversion_) && read_min_p(body_.min_p, conversion_) &&
           read_logit_bias(body_.logit_bias, conversion_) &&
           read_tokens_min(body_.min_tokens, conversion_);
  }

  bool read_logprobs() {
    if (!body_.logprobs.given()) return true;
    const auto count = whole_number(body_.logprobs.value, kLogprobsMax, Compat::kDefault);
    if (!count) {
      return issues_.rule("Invalid logprobs value, the valid range of logprobs is [0, 20]",
                          "logprobs");
    }
    conversion_.request.sampling.logprobs = true;
    conversion_.request.sampling.top_logprobs = static_cast<std::uint8_t>(*count);
    return true;
  }

  bool refuse_what_is_not_done() {
    if (body_.echo.value) return issues_.unsupported("echo", "this server repeats no prompts");
    const std::pair<std::string_view, const Field<JsonPart>*> refused[] = {
        {"suffix", &body_.suffix},
        {"best_of", &body_.best_of},
        {"use_beam_search", &body_.use_beam_search},
        {"repetition_penalty", &body_.repetition_penalty},
        {"stop_token_ids", &body_.stop_token_ids},
        {"prompt_logprobs", &body_.prompt_logprobs},
        {"response_format", &body_.response_format},
    };
    for (const auto& [name, field] : refused) {
      if (!refuse_unless_it_says_nothing(name, *field, conversion_)) return false;
    }
    return true;
  }

  const CompletionsBody& body_;
  Conversion& conversion_;
  Issues& issues_;
};

}  // namespace

bool convert_completions(const CompletionsBody& body, Conversion& conversion) {
  return CompletionsConverter(body, conversion).run();
}

}  // namespace troupe::recipe
