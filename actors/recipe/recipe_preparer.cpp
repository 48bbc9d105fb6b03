#include "actors/recipe/recipe_preparer.hpp"

#include "actors/gateway/routes.hpp"
#include "actors/recipe/prompt_tools.hpp"
#include "actors/recipe/recipe_answer.hpp"
#include "runtime/base/assert.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/recipe/request/request.hpp"

namespace troupe {

namespace {

constexpr std::string_view kScriptPrefix = "script/";

const char* id_prefix(recipe::Protocol protocol) {
  switch (protocol) {
    case recipe::Protocol::kResponses:
      return "resp_";
    case recipe::Protocol::kMessages:
      return "msg_";
    case recipe::Protocol::kChat:
      break;
  }
  return "chatcmpl-";
}

std::string answer_id(recipe::Protocol protocol, RequestId id) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = id_prefix(protocol);
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[(id.value >> shift) & 15];
  return text;
}

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

}  // namespace

RecipePreparer::RecipePreparer(std::vector<ServedModel> models, std::string fingerprint,
                               unsigned threads)
    : models_(std::move(models), threads), fingerprint_(std::move(fingerprint)) {}

Result<Prepared> RecipePreparer::prepare(const HttpArrived& arrived, RequestId id) const {
  const auto operation = operation_of(arrived.path);
  TROUPE_ASSERT(operation, "the gateway admits operations only");
  switch (*operation) {
    case Operation::kChat:
    case Operation::kResponses:
    case Operation::kMessages:
      return prepare_generation(arrived, id);
    case Operation::kCountTokens:
    case Operation::kRender:
    case Operation::kTokenize:
    case Operation::kDetokenize:
      break;
  }
  const std::string answer = answer_id(protocol_of(arrived.path), id);
  return answer_without_rank(*operation, arrived, answer, models_);
}

Result<Prepared> RecipePreparer::prepare_generation(const HttpArrived& arrived,
                                                    RequestId id) const {
  const recipe::Protocol protocol = protocol_of(arrived.path);
  TROUPE_TRY_ASSIGN(auto outcome, models_.understand(protocol, arrived.body));
  if (const auto* error = std::get_if<recipe::RequestError>(&outcome)) {
    return refusal_of(protocol, *error);
  }
  auto& understood = std::get<Understood>(outcome);
  auto& request = understood.request;
  const ServedModel* model = understood.model;
  if (const auto token = unknown_bias(request.sampling, *model->tokenizer)) {
    return refusal_of(protocol, error_about("logit_bias",
                                            "logit_bias names a token that the model does not "
                                            "have: " +
                                                std::to_string(token->value)));
  }
  auto& prompt = understood.ids;
  const auto room = recipe::resolve_max_tokens(request, prompt.size(), model->context);
  if (const auto* error = std::get_if<recipe::RequestError>(&room)) {
    return refusal_of(protocol, *error);
  }
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
  answer.identity = {
      answer_id(protocol, id), request.model, arrived.unix_seconds, splitmix64(id.value), "", {}};
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
