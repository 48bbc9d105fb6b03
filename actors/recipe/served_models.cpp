#include "actors/recipe/served_models.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/text/api_error.hpp"
#include "runtime/recipe/tokenizer/prompt_tokens.hpp"

namespace troupe {

namespace {

/// The recipe knows some names that this node does not serve.
recipe::RequestError not_served(const std::string& name) {
  const ApiError error = model_not_found(name);
  recipe::RequestError refused = error_about(error.param, error.message);
  refused.code = error.code;
  refused.status = error.status;
  return refused;
}

}  // namespace

recipe::RequestError error_about(std::string param, std::string message) {
  recipe::RequestError error;
  error.param = std::move(param);
  error.message = std::move(message);
  return error;
}

std::vector<TokenId> raw_prompt(const ServedModel& model, std::string_view text, bool first) {
  std::vector<TokenId> ids = model.tokenizer->encode(text, true);
  if (first && model.tokenizer->add_bos() && model.tokenizer->bos()) {
    ids.insert(ids.begin(), *model.tokenizer->bos());
  }
  return ids;
}

std::optional<recipe::RequestError> unknown_token(const ServedModel& model,
                                                  const std::vector<TokenId>& ids,
                                                  const std::string& param) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool known =
        ids[i].value >= 0 && static_cast<std::size_t>(ids[i].value) < model.tokenizer->size();
    if (known) continue;
    const std::string place = param + "[" + std::to_string(i) + "]";
    return error_about(place, "'" + place + "' is a token that the model does not have: " +
                                  std::to_string(ids[i].value));
  }
  return std::nullopt;
}

ServedModels::ServedModels(std::vector<ServedModel> models, unsigned threads,
                           recipe::ConversionOptions conversion)
    : models_(std::move(models)), threads_(threads), conversion_(std::move(conversion)) {
  TROUPE_ASSERT(!models_.empty(), "a gateway serves at least one model");
  for (const auto& model : models_) {
    conversion_.models[model.name] = model.version;
    if (model.version == recipe::ModelVersion::kDeepseekV4) conversion_.pack_v4 = model.pack;
    if (model.version == recipe::ModelVersion::kDeepseekV41) conversion_.pack_v41 = model.pack;
  }
  conversion_.default_model = models_.front().name;
}

std::variant<const ServedModel*, recipe::RequestError> ServedModels::find(
    const std::string& name) const {
  if (name.empty() && !models_.front().name.ends_with('*')) return &models_.front();
  const auto at = std::find_if(models_.begin(), models_.end(), [&](const ServedModel& model) {
    const bool pattern =
        model.name.ends_with('*') && name.starts_with(model.name.substr(0, model.name.size() - 1));
    return pattern || model.name == name;
  });
  // Also what a body without a model gets, where the first model is a pattern.
  if (name.empty() || (at != models_.end() && name == at->name && name.ends_with('*'))) {
    return error_about("model",
                       "the request names no model, and this server has no default one; "
                       "it serves " +
                           models_.front().name);
  }
  if (at == models_.end()) return not_served(name);
  return &*at;
}

Result<std::variant<Understood, recipe::RequestError>> ServedModels::understand(
    recipe::Protocol protocol, const std::string& body) const {
  using Outcome = std::variant<Understood, recipe::RequestError>;
  auto converted = recipe::convert_request(protocol, body, conversion_);
  if (auto* error = std::get_if<recipe::RequestError>(&converted)) return Outcome(*error);
  Understood understood;
  understood.request = std::get<recipe::ConversationRequest>(std::move(converted));
  const auto model = find(understood.request.model);
  if (const auto* error = std::get_if<recipe::RequestError>(&model)) return Outcome(*error);
  understood.model = std::get<const ServedModel*>(model);
  auto rendered = understood.model->encoding->render(understood.request.conversation);
  if (!rendered.ok()) {
    const bool responses = protocol == recipe::Protocol::kResponses;
    return Outcome(error_about(responses ? "input" : "messages", rendered.error().message));
  }
  if (!rendered->images.empty() && !understood.model->takes_images) {
    std::string path = rendered->images.front().path;
    path.erase(0, path.starts_with('.') ? 1 : 0);  // the reference's paths may begin with one
    return Outcome(error_about(std::move(path),
                               "the model that is served here sees no images; leave them out"));
  }
  TROUPE_TRY_ASSIGN(understood.ids,
                    recipe::encode_prompt(*understood.model->tokenizer, *rendered, threads_));
  understood.prompt = std::move(rendered.value().text);
  return Outcome(std::move(understood));
}

}  // namespace troupe
