// Any bytes as the body of a request, for every protocol and in both modes: a conversation that
// keeps its invariants, or a 400 or 404 with a reason. The first byte chooses protocol and mode.
#include <string>
#include <string_view>
#include <variant>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/encoding/prompt_pack.hpp"
#include "runtime/recipe/request/error_body.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/text/json_tape.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace {

using namespace troupe;
using namespace troupe::recipe;

std::shared_ptr<const PromptPack> made_up_pack() {
  PromptPack pack;
  pack.unsupported_image = "(image)";
  pack.unsupported_document = "(document)";
  pack.mid_system_begin = "(mid ";
  pack.mid_system_end = ")";
  pack.apply_patch.name = "apply_patch";
  pack.apply_patch.parameters = R"({"type":"object"})";
  return std::make_shared<const PromptPack>(std::move(pack));
}

ConversionOptions options_of(Compat compat, bool strict) {
  ConversionOptions options;
  options.compat = compat;
  options.models["*"] = ModelVersion::kChatml;
  options.default_model = "plain";
  options.reject_missing_reasoning = strict;
  options.messages_web_search_rejected = strict;
  options.pack_v4 = options.pack_v41 = made_up_pack();
  return options;
}

/// Results follow their calls directly, in the order of the calls (conversation.hpp, 3).
void check_results(const std::vector<Message>& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& calls = messages[i].calls;
    TROUPE_ASSERT(calls.empty() || messages[i].role == Role::kAssistant, "who calls");
    for (std::size_t k = 0; k < calls.size(); ++k) {
      TROUPE_ASSERT(i + k + 1 < messages.size(), "every call has a result");
      const Message& result = messages[i + k + 1];
      TROUPE_ASSERT(result.role == Role::kTool && result.call_id == calls[k].id, "in order");
      TROUPE_ASSERT(is_valid_utf8(calls[k].name), "names are UTF-8");
    }
  }
}

void check_message(const Message& message) {
  for (const Part& part : message.parts) {
    const auto* text = std::get_if<std::string>(&part);
    TROUPE_ASSERT(is_valid_utf8(text != nullptr ? *text : std::get<ImageSource>(part).value),
                  "texts are UTF-8");
  }
  TROUPE_ASSERT(is_valid_utf8(message.reasoning.value_or("")), "reasoning is UTF-8");
  TROUPE_ASSERT(!message.prefix || message.role == Role::kAssistant, "who is continued");
}

void check(const ConversationRequest& request) {
  const Conversation& conversation = request.conversation;
  for (const Message& message : conversation.messages) check_message(message);
  check_results(conversation.messages);
  for (const ToolDefinition& tool : conversation.tools) {
    TROUPE_ASSERT(!tool.name.empty(), "a tool has a name");
    TROUPE_ASSERT(JsonDocument::parse(tool.parameters).has_value(), "parameters are JSON");
  }
  TROUPE_ASSERT(conversation.tool_choice != ToolChoice::kNone || conversation.tools.empty(),
                "no tools if none may be called");
  TROUPE_ASSERT(request.parsing.tools == !conversation.tools.empty(), "markup is parsed for tools");
  TROUPE_ASSERT(request.answer.echo.empty() || JsonDocument::parse(request.answer.echo),
                "the echo is JSON");
  for (const std::string& stop : request.parsing.stops) {
    TROUPE_ASSERT(!stop.empty(), "no empty stop string");
  }
  const Sampling& sampling = request.sampling;
  const float temperature = sampling.temperature.value_or(1);
  const float top_p = sampling.top_p.value_or(1);
  TROUPE_ASSERT(temperature >= 0 && temperature <= 2, "range of the temperature");
  TROUPE_ASSERT(top_p > 0 && top_p <= 1, "range of top_p");
  TROUPE_ASSERT(sampling.tokens_max.value_or(1) >= 1, "range of the limit");
  TROUPE_ASSERT(sampling.top_logprobs.value_or(0) <= 20, "range of top_logprobs");
  TROUPE_ASSERT(request.parsing.stops.size() <= 16, "number of stop strings");
  const auto limit = resolve_max_tokens(request, 10, 100);
  const auto* tokens = std::get_if<std::uint32_t>(&limit);
  TROUPE_ASSERT(tokens == nullptr || (*tokens >= 1 && *tokens <= 90), "the limit fits");
}

void check(const RequestError& error, Protocol protocol, Compat compat) {
  TROUPE_ASSERT(error.status == 400 || error.status == 404, "bad input is never retried");
  TROUPE_ASSERT(!error.message.empty() && is_valid_utf8(error.message), "refused with a reason");
  TROUPE_ASSERT(compat == Compat::kDefault || error.param.empty(), "no parameter in compat mode");
  TROUPE_ASSERT(JsonDocument::parse(error_body(protocol, compat, error)), "the answer is JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static const ConversionOptions kOptions[] = {
      options_of(Compat::kDefault, false), options_of(Compat::kDefault, true),
      options_of(Compat::kDeepseek, false), options_of(Compat::kDeepseek, true)};
  const ConversionOptions& options = kOptions[data[0] / 3 % 4];
  const auto protocol = static_cast<Protocol>(data[0] % 3);
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto converted = convert_request(protocol, body, options);
  if (const auto* request = std::get_if<ConversationRequest>(&converted)) {
    check(*request);
  } else {
    check(std::get<RequestError>(converted), protocol, options.compat);
  }
  return 0;
}
