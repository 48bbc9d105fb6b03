// The body of POST /v1/completions, the protocol before conversations: raw prompts, as text or as
// token ids, one or many. Default mode only: the reference has no such protocol.
//
// What it means is decided in completions_convert.cpp. Source: OpenAI's API reference ("legacy"),
// with vLLM's extensions.
#pragma once

#include <string_view>
#include <tuple>

#include "runtime/recipe/request/chat_shape.hpp"
#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {

struct CompletionsBody : ChatExtensions {
  Field<std::string_view> model;
  Field<JsonPart> prompt;
  Field<JsonPart> suffix;
  Field<bool> echo;
  Field<Number> max_tokens;
  Field<Number> logprobs;
  Field<bool> stream;
  Field<ChatStreamOptions> stream_options;
  Field<Number> temperature;
  Field<Number> top_p;
  Field<Number> n;
  Field<Number> seed;
  Field<Number> presence_penalty;
  Field<Number> frequency_penalty;
  Field<Either<std::string_view, List<std::string_view>>> stop;
  Field<JsonPart> response_format;
  Field<JsonPart> user;

  static constexpr auto kMembers =
      std::tuple{member("model", &CompletionsBody::model),
                 member("prompt", &CompletionsBody::prompt),
                 member("suffix", &CompletionsBody::suffix),
                 member("echo", &CompletionsBody::echo),
                 member("max_tokens", &CompletionsBody::max_tokens),
                 member("logprobs", &CompletionsBody::logprobs),
                 member("stream", &CompletionsBody::stream),
                 member("stream_options", &CompletionsBody::stream_options),
                 member("temperature", &CompletionsBody::temperature),
                 member("top_p", &CompletionsBody::top_p),
                 member("n", &CompletionsBody::n),
                 member("seed", &CompletionsBody::seed),
                 member("presence_penalty", &CompletionsBody::presence_penalty),
                 member("frequency_penalty", &CompletionsBody::frequency_penalty),
                 member("stop", &CompletionsBody::stop),
                 member("response_format", &CompletionsBody::response_format),
                 member("user", &CompletionsBody::user),
                 member("top_k", &ChatExtensions::top_k),
                 member("min_p", &ChatExtensions::min_p),
                 member("logit_bias", &ChatExtensions::logit_bias),
                 member("ignore_eos", &ChatExtensions::ignore_eos),
                 member("min_tokens", &ChatExtensions::min_tokens),
                 member("best_of", &ChatExtensions::best_of),
                 member("use_beam_search", &ChatExtensions::use_beam_search),
                 member("repetition_penalty", &ChatExtensions::repetition_penalty),
                 member("stop_token_ids", &ChatExtensions::stop_token_ids),
                 member("prompt_logprobs", &ChatExtensions::prompt_logprobs)};
};

/// True if the body has the protocol's shape.
bool check_shape(const CompletionsBody& body, ShapeCheck& check);

}  // namespace troupe::recipe
