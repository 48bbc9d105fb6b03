#include "runtime/model/llama_engine.hpp"

#include <algorithm>

#include "runtime/device/device.hpp"

namespace troupe {

static_assert(kKvBlockTokens == kBlockTokens, "rank and model agree on the size of a KV block");

namespace {

SamplingParams params_of(const RowSampling& sampling) {
  SamplingParams params;
  params.temperature = sampling.temperature;
  params.top_p = sampling.top_p;
  params.min_p = sampling.min_p;
  params.top_k = static_cast<std::uint32_t>(std::max(0, sampling.top_k));
  params.seed = sampling.seed;
  params.logprobs = sampling.logprobs;
  params.bias = sampling.bias;
  return params;
}

}  // namespace

LlamaEngine::LlamaEngine(std::unique_ptr<LlamaModel> model, std::uint32_t block_count,
                         std::size_t tokens)
    : model_(std::move(model)), cache_(block_count, model_->config()), tokens_(tokens) {}

Status LlamaEngine::forward(const StepPlan& plan, const std::atomic<bool>& cancelled) {
  std::uint32_t rows_max = 0;
  for (const auto& row : plan.rows) rows_max = std::max(rows_max, row.row.value + 1);
  if (rows_max > last_tokens_.size()) last_tokens_.resize(rows_max);
  std::vector<ForwardRow> rows;
  for (const auto& row : plan.rows) {
    if (row.count == 0) continue;
    ForwardRow forward;
    if (row.input_on_device) {
      forward.tokens = std::span(&last_tokens_[row.row.value], 1);
    } else {
      if (!row.tokens || row.tokens->size() < row.start + row.count) {
        return Error{Code::kInvalid, "a plan's row has fewer tokens than it asks to compute"};
      }
      forward.tokens = std::span(*row.tokens).subspan(row.start, row.count);
    }
    forward.start = row.start;
    forward.blocks = row.blocks;
    forward.want_logits = row.sample;
    rows.push_back(forward);
  }
  logits_.resize(logits_row_count(rows) * model_->config().vocabulary);
  return model_->forward(rows, cache_, logits_, cancelled);
}

Result<StepResult> LlamaEngine::sample(const StepPlan& plan, const std::atomic<bool>&) {
  StepResult result;
  result.step = plan.step;
  const std::size_t vocabulary = model_->config().vocabulary;
  std::size_t at = 0;
  for (const auto& row : plan.rows) {
    if (!row.sample || row.count == 0) continue;
    const auto logits = std::span<const float>(logits_).subspan(at, vocabulary).first(tokens_);
    at += vocabulary;
    RowResult out;
    out.row = row.row;
    out.request = row.request;
    const SamplingParams params = params_of(row.sampling);
    Result<Sampled> sampled = Sampled{};
    if (const Status valid = validate(params, tokens_); !valid.ok()) {
      sampled = valid.error();
    } else {
      sampled = sampler_.sample(logits, params, row.start + row.count);
    }
    if (sampled.ok()) {
      last_tokens_[row.row.value] = sampled->token;
      out.tokens.push_back(sampled->token);
      if (row.sampling.logprobs >= 0) {
        out.logprobs.push_back({sampled->token, sampled->logprob, std::move(sampled->top)});
      }
    } else {
      out.end = RowEnd::kFailed;
      out.code = sampled.error().code;
      out.error = sampled.error().message;
    }
    result.rows.push_back(std::move(out));
  }
  return result;
}

}  // namespace troupe
