// What a step brought: new tokens, ended rows, freed blocks.
#include <algorithm>

#include "actors/rank/rank_core.hpp"
#include "actors/rank/rank_pipeline.hpp"

namespace troupe {

void RankCore::on(const Done<StepResult>& done, Context& context, Effects& out) {
  TROUPE_ASSERT(!steps_.empty(), "a launch that ends belongs to a step in flight");
  const bool cancelled = done.failed && done.error.code == Code::kCancelled;
  if (done.failed && !cancelled) {
    out.fail("device: " + to_string(done.error));
    return;
  }
  device_busy_ += done.output.device_time;
  out.count("troupe_device_busy_seconds_total", done.output.device_time.seconds());
  Step& oldest = steps_.front();
  if (done.op != oldest.sample) return;  // a forward ended; its sample follows on the same stream
  const Step step = std::move(oldest);
  steps_.pop_front();
  auto fresh = absorb(done.output, context);
  retire(step);
  fill_pipeline(context, out, [&] { post_process(step.number, std::move(fresh), context, out); });
  report_bubbles(context, out);
  report_load(out);
}

void RankCore::report_bubbles(Context& context, Effects& out) {
  const Duration elapsed = context.now - pipeline_began_;
  if (elapsed <= Duration()) return;
  const double idle = 1.0 - device_busy_.seconds() / elapsed.seconds();
  out.gauge("troupe_device_bubble_ratio", std::max(0.0, idle));
}

std::vector<RankCore::Fresh> RankCore::absorb(const StepResult& result, Context& context) {
  std::vector<Fresh> all;
  for (const auto& row_result : result.rows) {
    RankRow* row = find(row_result.request);
    if (row == nullptr || !row->running()) continue;  // it ended while this step was in flight
    --row->samples_pending;
    Fresh fresh{row->submitted.streams, {}};
    fresh.tokens.request = row_result.request;
    fresh.tokens.first = row->output;
    if (row->output == 0) fresh.tokens.queued = row->admitted_at - row->submitted_at;
    absorb_row(*row, row_result, fresh.tokens);
    if (row->first_token_at == Time() && row->output > 0) row->first_token_at = context.now;
    if (fresh.tokens.finish != Finish::kNone) row->state = RowState::kEnding;
    if (!fresh.tokens.tokens.empty() || fresh.tokens.finish != Finish::kNone) {
      all.push_back(std::move(fresh));
    }
  }
  return all;
}

void RankCore::absorb_row(RankRow& row, const RowResult& result, RowTokens& fresh) {
  // The plan counted one new position for this sample; the device knows how many there were. A
  // scripted row that had nothing to say has not moved.
  row.computed += static_cast<std::uint32_t>(result.tokens.size());
  --row.computed;
  for (std::size_t i = 0; i < result.tokens.size() && fresh.finish == Finish::kNone; ++i) {
    const TokenId token = result.tokens[i];
    fresh.tokens.push_back(token);
    if (i < result.logprobs.size()) fresh.logprobs.push_back(result.logprobs[i]);
    ++row.output;
    if (row.prefill) row.generated.push_back(token);
    const auto& stops = row.submitted.stop_ids;
    if (std::find(stops.begin(), stops.end(), token) != stops.end()) {
      fresh.finish = Finish::kStop;
    } else if (row.output >= row.output_max) {
      fresh.finish = Finish::kLength;
    }
  }
  if (fresh.finish != Finish::kNone) return;
  switch (result.end) {
    case RowEnd::kNone:
      break;
    case RowEnd::kStop:
      fresh.finish = Finish::kStop;
      break;
    case RowEnd::kLength:
      fresh.finish = Finish::kLength;
      break;
    case RowEnd::kFailed:
      fresh.finish = Finish::kFailed;
      fresh.code = result.code;
      fresh.error = result.error;
      break;
  }
}

void RankCore::retire(const Step& step) {
  for (const RequestId id : step.rows) {
    RankRow* row = find(id);
    if (row == nullptr) continue;
    TROUPE_ASSERT(row->steps_pending > 0, "a row counts the steps that use it");
    --row->steps_pending;
  }
}

void RankCore::post_process(std::uint64_t step, std::vector<Fresh> fresh, Context& context,
                            Effects& out) {
  std::map<ActorRef, TokenBatch> batches;
  double tokens = 0;
  for (auto& one : fresh) {
    RankRow* row = find(one.tokens.request);
    if (row != nullptr && one.tokens.first == 0 && !one.tokens.tokens.empty()) {
      out.count("vllm:prompt_tokens_total", row->submitted.prompt_length);
    }
    if (row != nullptr && one.tokens.finish != Finish::kNone) observe_end(*row, context, out);
    tokens += static_cast<double>(one.tokens.tokens.size());
    TokenBatch& batch = batches[one.streams];
    batch.rank = context.self;
    batch.step = step;
    batch.rows.push_back(std::move(one.tokens));
  }
  for (auto& [streams, batch] : batches) {
    batch.acknowledge = spend_credit(streams, step, context, out);
    out.send(streams, make_message<TokenBatch>(std::move(batch)));
  }
  if (tokens > 0) out.count("vllm:generation_tokens_total", tokens);
  std::vector<RequestId> over;
  for (const auto& [id, row] : rows_) {
    if (row.state == RowState::kEnding) over.push_back(id);
  }
  for (const RequestId id : over) release_if_unused(id, out);
}

void RankCore::observe_end(const RankRow& row, Context& context, Effects& out) {
  if (row.first_token_at == Time()) return;
  out.observe("vllm:request_prefill_time_seconds",
              (row.first_token_at - row.admitted_at).seconds());
  out.observe("vllm:request_decode_time_seconds", (context.now - row.first_token_at).seconds());
}

}  // namespace troupe
