#include "actors/recipe/raw_prompts.hpp"

#include "runtime/recipe/request/request.hpp"

namespace troupe {

namespace {

std::variant<MorePrompt, recipe::RequestError> encode_one(
    const recipe::RawPrompt& raw, const std::string& param,
    const recipe::ConversationRequest& request, const ServedModel& model) {
  MorePrompt prompt;
  if (raw.ids) {
    if (auto error = unknown_token(model, *raw.ids, param)) return *error;
    prompt.prompt = *raw.ids;
  } else {
    prompt.prompt = raw_prompt(model, raw.text, true);
  }
  if (prompt.prompt.empty()) return error_about(param, "'" + param + "' must not be empty");
  const auto room = recipe::resolve_max_tokens(request, prompt.prompt.size(), model.context);
  if (const auto* error = std::get_if<recipe::RequestError>(&room)) return *error;
  prompt.max_tokens = std::get<std::uint32_t>(room);
  return prompt;
}

}  // namespace

std::variant<std::vector<MorePrompt>, recipe::RequestError> encode_raw_prompts(
    const recipe::ConversationRequest& request, const ServedModel& model) {
  std::vector<MorePrompt> prompts;
  for (std::size_t i = 0; i < request.prompts.size(); ++i) {
    const bool many = request.prompts.size() > 1;
    const std::string param = many ? "prompt[" + std::to_string(i) + "]" : "prompt";
    auto one = encode_one(request.prompts[i], param, request, model);
    if (auto* error = std::get_if<recipe::RequestError>(&one)) return *error;
    prompts.push_back(std::get<MorePrompt>(std::move(one)));
  }
  return prompts;
}

}  // namespace troupe
