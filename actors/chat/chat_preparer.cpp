#include "actors/chat/chat_preparer.hpp"

#include "actors/chat/chat_answer.hpp"
#include "runtime/base/rng.hpp"
#include "runtime/recipe/chat_request.hpp"

namespace troupe {

namespace {

constexpr std::string_view kScriptPrefix = "script/";

Prepared refusal(const ApiError& error) {
  Prepared prepared;
  prepared.refusal_status = static_cast<std::uint16_t>(error.status);
  prepared.refusal_body = error_body(error);
  return prepared;
}

RowSampling sampling_of(const ChatRequest& chat, RequestId id) {
  RowSampling sampling;
  sampling.temperature = static_cast<float>(chat.temperature.value_or(1.0));
  sampling.top_p = static_cast<float>(chat.top_p.value_or(1.0));
  sampling.min_p = static_cast<float>(chat.min_p.value_or(0.0));
  sampling.top_k = static_cast<std::int32_t>(chat.top_k.value_or(0));
  sampling.seed = chat.seed.value_or(splitmix64(id.value));
  sampling.logprobs = chat.logprobs ? static_cast<std::int32_t>(chat.top_logprobs) : -1;
  sampling.bias = chat.logit_bias;
  return sampling;
}

std::string completion_id(RequestId id) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text = "chatcmpl-";
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[(id.value >> shift) & 15];
  return text;
}

}  // namespace

ChatPreparer::ChatPreparer(std::vector<ServedModel> models, std::string fingerprint)
    : models_(std::move(models)), fingerprint_(std::move(fingerprint)) {
  TROUPE_ASSERT(!models_.empty(), "a gateway serves at least one model");
}

const ServedModel* ChatPreparer::find(const std::string& name) const {
  for (const auto& model : models_) {
    if (model.name == name || (name.empty() && &model == &models_.front())) return &model;
    if (model.name == "script/*" && name.starts_with(kScriptPrefix)) return &model;
  }
  return nullptr;
}

Result<Prepared> ChatPreparer::prepare(const HttpArrived& arrived, RequestId id) const {
  ParsedChatRequest parsed = parse_chat_request(arrived.body);
  if (const auto* error = std::get_if<ApiError>(&parsed)) return refusal(*error);
  ChatRequest& chat = std::get<ChatRequest>(parsed);
  const ServedModel* model = find(chat.model);
  if (model == nullptr) return refusal(model_not_found(chat.model));
  for (const auto& [token, bias] : chat.logit_bias) {
    if (token.value < 0 || static_cast<std::size_t>(token.value) >= model->tokenizer->size()) {
      return refusal(invalid_parameter("logit_bias",
                                       "logit_bias names a token that the model "
                                       "does not have: " +
                                           std::to_string(token.value)));
    }
  }
  auto segments = model->encoder->encode(chat.messages);
  if (!segments.ok()) return refusal(api_error_of(segments.error()));
  TROUPE_TRY_ASSIGN(auto prompt, model->tokenizer->encode(*segments));
  const std::uint64_t wanted = chat.tokens_max.value_or(1);
  if (prompt.size() + wanted > model->context) {
    return refusal(context_length_exceeded(prompt.size(), wanted, model->context));
  }
  Prepared prepared;
  prepared.model = chat.model.empty() ? model->name : chat.model;
  prepared.prompt_length = static_cast<std::uint32_t>(prompt.size());
  prepared.prompt = std::move(prompt);
  prepared.max_tokens = chat.tokens_max.value_or(0);
  if (!chat.ignore_eos) {
    const auto ends = model->tokenizer->ends();
    prepared.stop_ids.assign(ends.begin(), ends.end());
  }
  prepared.sampling = sampling_of(chat, id);
  if (chat.model.starts_with(kScriptPrefix)) {
    prepared.script = chat.model.substr(kScriptPrefix.size());
  }
  ChatAnswerOptions answer;
  answer.identity = {completion_id(id), arrived.unix_seconds, prepared.model, fingerprint_};
  answer.tokenizer = model->tokenizer;
  answer.stops = std::move(chat.stop);
  answer.stream = chat.stream;
  answer.include_usage = chat.include_usage;
  answer.logprobs = chat.logprobs;
  answer.prompt_tokens = prepared.prompt_length;
  prepared.answer.format = std::make_shared<const ChatAnswer>(std::move(answer));
  return prepared;
}

Duration ChatPreparer::modelled_time(const HttpArrived& arrived) const {
  // 3 MB/s of text, the reference implementation's rate (issue figures), plus a fixed 20 µs.
  return microseconds(20) + Duration(static_cast<std::int64_t>(arrived.body.size()) * 333);
}

}  // namespace troupe
