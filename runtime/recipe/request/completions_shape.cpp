#include "runtime/recipe/request/completions_shape.hpp"

#include <limits>

namespace troupe::recipe {

bool check_shape(const CompletionsBody& body, ShapeCheck& check) {
  constexpr std::uint64_t kU8Max = std::numeric_limits<std::uint8_t>::max();
  constexpr std::uint64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
  if (!check.optional(body.model, "model") || !check.required(body.prompt, "prompt") ||
      !check.optional(body.stop, "stop") ||
      !check.each(body.stop.value.container, "stop", [](std::string_view) { return true; }) ||
      !check.optional(body.stream, "stream") ||
      !check.optional(body.stream_options, "stream_options")) {
    return false;
  }
  if (!check.within("stream_options", [&] {
        return check.optional(body.stream_options.value.include_usage, "include_usage");
      })) {
    return false;
  }
  return check.optional(body.echo, "echo") && check.whole(body.max_tokens, "max_tokens", kU32Max) &&
         check.whole(body.logprobs, "logprobs", kU8Max) &&
         check.optional(body.temperature, "temperature") && check.optional(body.top_p, "top_p") &&
         check.whole(body.n, "n", kU8Max) && check.optional(body.seed, "seed") &&
         check.optional(body.presence_penalty, "presence_penalty") &&
         check.optional(body.frequency_penalty, "frequency_penalty") &&
         check.optional(body.top_k, "top_k") && check.optional(body.min_p, "min_p") &&
         check.optional(body.ignore_eos, "ignore_eos") &&
         check.whole(body.min_tokens, "min_tokens", kU32Max);
}

}  // namespace troupe::recipe
