#include "actors/recipe/recipe_preparer.hpp"

#include "actors/gateway/answer_id.hpp"
#include "actors/gateway/routes.hpp"
#include "actors/recipe/prompt_tools.hpp"
#include "actors/recipe/raw_prompts.hpp"
#include "actors/recipe/stored_response_id.hpp"
#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/recipe/request/request.hpp"
#include "runtime/recipe/request/responses_history.hpp"

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

/// What does not depend on the prompts.
Prepared plan_rows(const recipe::ConversationRequest& request, const ServedModel& model,
                   RequestId id) {
  Prepared prepared;
  prepared.model = request.model;
  prepared.choices = request.choices;
  prepared.min_tokens = request.sampling.tokens_min;
  if (!request.sampling.ignore_eos) {
    const auto ends = model.tokenizer->ends();
    prepared.stop_ids.assign(ends.begin(), ends.end());
  }
  prepared.sampling = sampling_of(request.sampling, id);
  if (request.model.starts_with(kScriptPrefix)) {
    prepared.script = request.model.substr(kScriptPrefix.size());
  }
  return prepared;
}

/// The body with the conversation that it goes on with; nothing if that is too long.
std::optional<std::string> whole_body(const std::string& body, const ResponseChain& earlier,
                                      std::size_t bytes_max) {
  std::string items;
  for (const auto& response : earlier.responses) {
    const auto output = recipe::output_items_of(response->body);
    if (!output) return std::nullopt;
    recipe::append_items(items, response->input);
    recipe::append_items(items, *output);
    if (items.size() > bytes_max) return std::nullopt;
  }
  auto whole = recipe::with_earlier_items(body, items);
  if (whole && whole->size() > bytes_max) return std::nullopt;
  return whole;
}

/// Status and code as of a body that is too large.
Prepared conversation_too_long(std::size_t bytes_max) {
  recipe::RequestError error = error_about(
      "previous_response_id", "the conversation up to here and this request are together over " +
                                  std::to_string(bytes_max) +
                                  " bytes, or have too many parts: begin a new one");
  error.status = 413;
  error.code = "request_too_large";
  return refusal_of(recipe::Protocol::kResponses, error);
}

recipe::RequestError nothing_is_kept() {
  recipe::RequestError error = error_about("store",
                                           "this server keeps no responses: leave "
                                           "'store' out or set it to false");
  error.code = "unsupported_parameter";
  return error;
}

}  // namespace

RecipePreparer::RecipePreparer(std::vector<ServedModel> models, std::string fingerprint,
                               unsigned threads, std::string secret,
                               recipe::ConversionOptions conversion, std::size_t body_bytes_max)
    : models_(std::move(models), threads, std::move(conversion)),
      fingerprint_(std::move(fingerprint)),
      secret_(std::move(secret)),
      body_bytes_max_(body_bytes_max) {}

Result<Prepared> RecipePreparer::prepare(const HttpArrived& arrived, RequestId id,
                                         const ResponseChain* earlier) const {
  const auto operation = operation_of(arrived.path);
  TROUPE_ASSERT(operation, "the gateway admits operations only");
  switch (*operation) {
    case Operation::kResponses:
      // The reference keeps nothing.
      if (earlier != nullptr || models_.conversion().compat != recipe::Compat::kDefault) break;
      if (auto previous = recipe::previous_response_of(arrived.body)) {
        Prepared first;
        first.previous = std::move(*previous);
        return first;
      }
      break;
    case Operation::kCompletions:
      return prepare_completions(arrived, id);
    case Operation::kChat:
    case Operation::kMessages:
      break;
    case Operation::kCountTokens:
    case Operation::kRender:
    case Operation::kTokenize:
    case Operation::kDetokenize:
      return answer_without_rank(*operation, arrived, answer_id(protocol_of(arrived.path), id),
                                 models_);
  }
  return prepare_generation(arrived, id, earlier);
}

Result<Prepared> RecipePreparer::prepare_generation(const HttpArrived& arrived, RequestId id,
                                                    const ResponseChain* earlier) const {
  const recipe::Protocol protocol = protocol_of(arrived.path);
  std::optional<std::string> whole;
  if (earlier != nullptr) {
    whole = whole_body(arrived.body, *earlier, body_bytes_max_);
    if (!whole) {
      const auto alone = recipe::convert_request(protocol, arrived.body, models_.conversion());
      const auto* error = std::get_if<recipe::RequestError>(&alone);
      return error != nullptr && error->stage == recipe::RequestError::Stage::kParse
                 ? refusal_of(protocol, *error)
                 : conversation_too_long(body_bytes_max_);
    }
  }
  TROUPE_TRY_ASSIGN(auto outcome, models_.understand(protocol, whole ? *whole : arrived.body));
  if (const auto* error = std::get_if<recipe::RequestError>(&outcome)) {
    return refusal_of(protocol, *error, models_.conversion().compat);
  }
  auto& understood = std::get<Understood>(outcome);
  auto& request = understood.request;
  if (const auto error = refused_here(request, *understood.model)) {
    return refusal_of(protocol, *error, models_.conversion().compat);
  }
  const auto room =
      recipe::resolve_max_tokens(request, understood.ids.size(), understood.model->context);
  if (const auto* error = std::get_if<recipe::RequestError>(&room)) {
    return refusal_of(protocol, *error, models_.conversion().compat);
  }
  Prepared prepared = plan_rows(request, *understood.model, id);
  prepared.prompt_length = static_cast<std::uint32_t>(understood.ids.size());
  prepared.max_tokens = std::get<std::uint32_t>(room);
  prepared.prompt = std::move(understood.ids);
  const bool keeps = protocol == recipe::Protocol::kResponses && !secret_.empty() &&
                     models_.conversion().compat == recipe::Compat::kDefault &&
                     request.store.value_or(true);
  RecipeAnswerOptions answer = answer_options(arrived, id, request, *understood.model);
  answer.prompt_tokens = prepared.prompt_length;
  answer.choices = prepared.choices;
  if (earlier != nullptr) answer.answer.previous_response = earlier->responses.back()->id;
  if (keeps) keep(arrived, id, answer);
  prepared.answer.format = std::make_shared<const RecipeAnswer>(std::move(answer));
  return prepared;
}

Result<Prepared> RecipePreparer::prepare_completions(const HttpArrived& arrived,
                                                     RequestId id) const {
  constexpr auto kProtocol = recipe::Protocol::kCompletions;
  auto converted = recipe::convert_request(kProtocol, arrived.body, models_.conversion());
  if (const auto* error = std::get_if<recipe::RequestError>(&converted)) {
    return refusal_of(kProtocol, *error);
  }
  auto& request = std::get<recipe::ConversationRequest>(converted);
  const auto found = models_.find(request.model);
  if (const auto* error = std::get_if<recipe::RequestError>(&found)) {
    return refusal_of(kProtocol, *error);
  }
  const ServedModel& model = *std::get<const ServedModel*>(found);
  if (const auto error = refused_here(request, model)) return refusal_of(kProtocol, *error);
  auto encoded = encode_raw_prompts(request, model);
  if (const auto* error = std::get_if<recipe::RequestError>(&encoded)) {
    return refusal_of(kProtocol, *error);
  }
  auto& prompts = std::get<std::vector<MorePrompt>>(encoded);
  RecipeAnswerOptions answer = answer_options(arrived, id, request, model);
  for (const auto& prompt : prompts) {
    answer.prompt_tokens += static_cast<std::uint32_t>(prompt.prompt.size());
  }
  Prepared prepared = plan_rows(request, model, id);
  answer.choices = prepared.choices * static_cast<std::uint32_t>(prompts.size());
  prepared.prompt = std::move(prompts.front().prompt);
  prepared.prompt_length = static_cast<std::uint32_t>(prepared.prompt.size());
  prepared.max_tokens = prompts.front().max_tokens;
  prompts.erase(prompts.begin());
  prepared.more_prompts = std::move(prompts);
  prepared.answer.format = std::make_shared<const RecipeAnswer>(std::move(answer));
  return prepared;
}

std::optional<recipe::RequestError> RecipePreparer::refused_here(
    const recipe::ConversationRequest& request, const ServedModel& model) const {
  if (request.store.value_or(false) && secret_.empty()) return nothing_is_kept();
  const auto token = unknown_bias(request.sampling, *model.tokenizer);
  if (!token) return std::nullopt;
  return error_about("logit_bias", "logit_bias names a token that the model does not have: " +
                                       std::to_string(token->value));
}

RecipeAnswerOptions RecipePreparer::answer_options(const HttpArrived& arrived, RequestId id,
                                                   recipe::ConversationRequest& request,
                                                   const ServedModel& model) const {
  const std::string name = answer_id(request.answer.protocol, id);
  RecipeAnswerOptions answer;
  answer.identity = {name, request.model, arrived.unix_seconds, splitmix64(id.value), ""};
  answer.fingerprint = fingerprint_;
  answer.tokenizer = model.tokenizer;
  answer.parsing = std::move(request.parsing);
  answer.answer = std::move(request.answer);
  answer.stream = request.stream;
  answer.logprobs = request.sampling.logprobs;
  return answer;
}

void RecipePreparer::keep(const HttpArrived& arrived, RequestId id,
                          RecipeAnswerOptions& answer) const {
  answer.identity.id = stored_response_id(id, secret_);
  answer.answer.stored = true;
  StoredResponse& kept = answer.keep.emplace();
  kept.id = answer.identity.id;
  kept.previous = answer.answer.previous_response;
  kept.created = arrived.unix_seconds;
  kept.owner = arrived.tenant;
  kept.input = recipe::input_items_of(arrived.body);
}

Duration RecipePreparer::modelled_time(const HttpArrived& arrived) const {
  // 3 MB/s of text, the reference implementation's rate (issue figures), plus a fixed 20 µs.
  return microseconds(20) + Duration(static_cast<std::int64_t>(arrived.body.size()) * 333);
}

}  // namespace troupe
