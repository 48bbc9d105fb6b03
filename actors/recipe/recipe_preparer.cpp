#include "actors/recipe/recipe_preparer.hpp"

#include <algorithm>

#include "actors/gateway/answer_id.hpp"
#include "actors/gateway/api_error.hpp"
#include "actors/recipe/recipe_answer.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/recipe/request/error_body.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/tokenizer/prompt_tokens.hpp"

namespace troupe {

namespace {

constexpr std::string_view kScriptPrefix = "script/";

RowSampling sampling_of(const recipe::Sampling& asked, RequestId id) {
  RowSampling sampling;
  sampling.temperature = asked.temperature.value_or(1.0F);
  sampling.top_p = asked.top_p.value_or(1.0F);
  sampling.min_p = asked.min_p.value_or(0.0F);
  sampling.top_k = static_cast<std::int32_t>(asked.top_k.value_or(0));
  sampling.seed = asked.seed.value_or(splitmix64(id.value));
  sampling.logprobs = asked.logprobs ? asked.top_logprobs.value_or(0) : -1;
  sampling.bias = asked.logit_bias;
  return sampling;
}

/// A bias for a token that the vocabulary does not have, if there is one.
std::optional<TokenId> unknown_bias(const recipe::Sampling& asked, const Tokenizer& tokenizer) {
  for (const auto& [token, bias] : asked.logit_bias) {
    if (token.value < 0 || static_cast<std::size_t>(token.value) >= tokenizer.size()) return token;
  }
  return std::nullopt;
}

recipe::RequestError about(std::string param, std::string message) {
  recipe::RequestError error;
  error.param = std::move(param);
  error.message = std::move(message);
  return error;
}

/// The recipe knows some names that this node does not serve.
recipe::RequestError not_served(const std::string& name) {
  const ApiError error = model_not_found(name);
  recipe::RequestError refused = about(error.param, error.message);
  refused.code = error.code;
  refused.status = error.status;
  return refused;
}

}  // namespace

RecipePreparer::RecipePreparer(std::vector<ServedModel> models, std::string fingerprint,
                               unsigned threads, recipe::ConversionOptions conversion)
    : models_(std::move(models)),
      fingerprint_(std::move(fingerprint)),
      threads_(threads),
      conversion_(std::move(conversion)) {
  TROUPE_ASSERT(!models_.empty(), "a gateway serves at least one model");
  for (const auto& model : models_) {
    conversion_.models[model.name] = model.version;
    if (model.version == recipe::ModelVersion::kDeepseekV4) conversion_.pack_v4 = model.pack;
    if (model.version == recipe::ModelVersion::kDeepseekV41) conversion_.pack_v41 = model.pack;
  }
  conversion_.default_model = models_.front().name;
}

const ServedModel* RecipePreparer::find(const std::string& name) const {
  const auto at = std::find_if(models_.begin(), models_.end(), [&](const ServedModel& model) {
    const bool pattern =
        model.name.ends_with('*') && name.starts_with(model.name.substr(0, model.name.size() - 1));
    return pattern || model.name == name;
  });
  return at == models_.end() ? nullptr : &*at;
}

Result<Prepared> RecipePreparer::prepare(const HttpArrived& arrived, RequestId id) const {
  const recipe::Protocol protocol = protocol_of(arrived.path);
  const auto refusal = [&](const recipe::RequestError& error) {
    Prepared prepared;
    prepared.refusal_status = static_cast<std::uint16_t>(error.status);
    prepared.refusal_body = recipe::error_body(protocol, conversion_.compat, error);
    return prepared;
  };
  auto converted = recipe::convert_request(protocol, arrived.body, conversion_);
  if (const auto* error = std::get_if<recipe::RequestError>(&converted)) return refusal(*error);
  auto& request = std::get<recipe::ConversationRequest>(converted);
  const ServedModel* model = find(request.model);
  if (model == nullptr) return refusal(not_served(request.model));
  if (const auto token = unknown_bias(request.sampling, *model->tokenizer)) {
    return refusal(about("logit_bias", "logit_bias names a token that the model does not have: " +
                                           std::to_string(token->value)));
  }
  const auto rendered = model->encoding->render(request.conversation);
  if (!rendered.ok()) return refusal(about("messages", rendered.error().message));
  if (!rendered->images.empty() && !model->takes_images) {
    std::string path = rendered->images.front().path;
    path.erase(0, path.starts_with('.') ? 1 : 0);  // the reference's paths may begin with one
    return refusal(
        about(std::move(path), "the model that is served here sees no images; leave them out"));
  }
  TROUPE_TRY_ASSIGN(auto prompt, recipe::encode_prompt(*model->tokenizer, *rendered, threads_));
  const auto room = recipe::resolve_max_tokens(request, prompt.size(), model->context);
  if (const auto* error = std::get_if<recipe::RequestError>(&room)) return refusal(*error);
  Prepared prepared;
  prepared.model = request.model;
  prepared.prompt_length = static_cast<std::uint32_t>(prompt.size());
  prepared.prompt = std::move(prompt);
  prepared.max_tokens = std::get<std::uint32_t>(room);
  if (!request.sampling.ignore_eos) {
    const auto ends = model->tokenizer->ends();
    prepared.stop_ids.assign(ends.begin(), ends.end());
  }
  prepared.sampling = sampling_of(request.sampling, id);
  if (request.model.starts_with(kScriptPrefix)) {
    prepared.script = request.model.substr(kScriptPrefix.size());
  }
  RecipeAnswerOptions answer;
  answer.identity = {answer_id(protocol, id), request.model, arrived.unix_seconds,
                     splitmix64(id.value), ""};
  answer.fingerprint = fingerprint_;
  answer.tokenizer = model->tokenizer;
  answer.parsing = std::move(request.parsing);
  answer.answer = std::move(request.answer);
  answer.stream = request.stream;
  answer.logprobs = request.sampling.logprobs;
  answer.prompt_tokens = prepared.prompt_length;
  prepared.answer.format = std::make_shared<const RecipeAnswer>(std::move(answer));
  return prepared;
}

Duration RecipePreparer::modelled_time(const HttpArrived& arrived) const {
  // 3 MB/s of text, the reference implementation's rate (issue figures), plus a fixed 20 µs.
  return microseconds(20) + Duration(static_cast<std::int64_t>(arrived.body.size()) * 333);
}

}  // namespace troupe
