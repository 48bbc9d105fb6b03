#include "runtime/recipe/request/token_requests.hpp"

#include <limits>

#include "runtime/recipe/request/body_reader.hpp"
#include "runtime/recipe/request/token_shape.hpp"

namespace troupe::recipe {

bool check_shape(const TokenizeBody& body, ShapeCheck& check) {
  if (!body.messages.given() && !check.required(body.prompt, "prompt")) return false;
  return check.optional(body.model, "model") && check.optional(body.prompt, "prompt") &&
         check.optional(body.add_special_tokens, "add_special_tokens") &&
         check.optional(body.return_token_strs, "return_token_strs") &&
         check.optional(body.add_generation_prompt, "add_generation_prompt") &&
         check.optional(body.continue_final_message, "continue_final_message");
}

bool check_shape(const DetokenizeBody& body, ShapeCheck& check) {
  return check.optional(body.model, "model") && check.required(body.tokens, "tokens") &&
         check.each(body.tokens.value, "tokens", [](const Number&) { return true; });
}

namespace {

/// What vLLM's chat templates can do and encodings cannot.
bool refuse_template_options(const TokenizeBody& body, Issues& issues) {
  if (body.add_generation_prompt.given() && !body.add_generation_prompt.value) {
    return issues.unsupported("add_generation_prompt", "a prompt ends where the model goes on");
  }
  if (body.continue_final_message.given() && body.continue_final_message.value) {
    return issues.unsupported("continue_final_message", "mark the last message with prefix");
  }
  if (body.chat_template.given()) {
    return issues.unsupported("chat_template", "this server runs no templates");
  }
  return true;
}

}  // namespace

std::variant<TokenizeRequest, RequestError> read_tokenize(std::string_view body) {
  TokenizeRequest request;
  const auto error = read_body<TokenizeBody>(
      body, Compat::kDefault, [&](const TokenizeBody& read, const JsonTape&, Issues& issues) {
        request.model = read.model.value;
        if (!read.messages.given()) request.prompt = read.prompt.value;
        if (read.add_special_tokens.given()) {
          request.add_special_tokens = read.add_special_tokens.value;
        }
        request.strings = read.return_token_strs.value;
        return refuse_template_options(read, issues);
      });
  if (error) return *error;
  return request;
}

std::variant<DetokenizeRequest, RequestError> read_detokenize(std::string_view body) {
  DetokenizeRequest request;
  const auto error = read_body<DetokenizeBody>(
      body, Compat::kDefault, [&](const DetokenizeBody& read, const JsonTape&, Issues& issues) {
        request.model = read.model.value;
        for (std::size_t i = 0; i < read.tokens.value.size(); ++i) {
          const auto id = whole_number(read.tokens.value[i].value,
                                       std::numeric_limits<std::int32_t>::max(), Compat::kDefault);
          const std::string param = "tokens[" + std::to_string(i) + "]";
          if (!id) return issues.rule("'" + param + "' is no token id", param);
          request.tokens.emplace_back(static_cast<std::int32_t>(*id));
        }
        return true;
      });
  if (error) return *error;
  return request;
}

}  // namespace troupe::recipe
