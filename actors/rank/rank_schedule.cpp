// Which rows go into the next step, and with how many tokens.
#include <algorithm>
#include <limits>

#include "actors/rank/rank_core.hpp"
#include "actors/rank/rank_pipeline.hpp"

namespace troupe {

std::uint32_t RankCore::context_limit() const {
  const std::uint64_t pool_tokens = std::uint64_t{pool_.capacity()} * kKvBlockTokens;
  // A row also needs room for the tokens that steps in flight may add before their ends are known.
  const std::uint64_t slack = 2ull * args_.device.tokens_per_step_max;
  const std::uint64_t usable = pool_tokens > slack ? pool_tokens - slack : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(args_.device.context_max, usable));
}

std::uint32_t RankCore::blocks_for(std::uint32_t tokens) const {
  return (tokens + kKvBlockTokens - 1) / kKvBlockTokens;
}

bool RankCore::wants_step(const RankRow& row) const {
  if (!row.running() || row.parked || row.preempting) return false;
  const auto unacked = unacked_.find(row.submitted.streams);
  if (unacked != unacked_.end() && unacked->second.size() >= args_.limits.unacked_batches_max) {
    return false;
  }
  // Its last token is on the way already.
  return row.output + row.samples_pending < row.output_max;
}

bool RankCore::reserve(RankRow& row, std::uint32_t tokens) {
  const std::uint32_t needed = blocks_for(tokens);
  if (needed <= row.blocks.size()) return true;
  return pool_.take(needed - static_cast<std::uint32_t>(row.blocks.size()), row.blocks);
}

void RankCore::preempt_one() {
  RankRow* victim = nullptr;
  for (const RequestId id : admitted_) {
    RankRow& other = *find(id);
    if (other.preempting || other.state == RowState::kEnding) return;  // blocks are coming already
    // Parked rows first, then the one admitted last.
    if (victim == nullptr || other.parked || !victim->parked) victim = &other;
  }
  TROUPE_ASSERT(victim != nullptr, "a row that needs a block is admitted");
  const bool alone = admitted_.size() == 1;
  TROUPE_ASSERT(!alone, "a row that is alone always fits: it was checked at its submission");
  victim->preempting = true;
}

void RankCore::finish_preemption(RankRow& row, Effects& out) {
  pool_.give_back(row.blocks);
  free_row_ids_.push_back(row.row);
  std::erase(admitted_, row.id());
  row.state = RowState::kWaiting;
  row.preempting = false;
  row.fresh = true;
  row.computed = 0;
  row.resumed = row.output;
  row.prefill_length = row.submitted.prompt_length + row.output;
  if (row.prefill) {
    auto all = *row.prefill;
    all.resize(row.submitted.prompt_length);
    all.insert(all.end(), row.generated.begin(), row.generated.end());
    row.prefill = std::make_shared<const std::vector<TokenId>>(std::move(all));
  }
  waiting_.push_front(row.id());
  ++preemptions_;
  out.count("vllm:num_preemptions_total");
}

bool RankCore::finish_preemptions(Effects& out) {
  bool any = false;
  for (const RequestId id : std::vector<RequestId>(admitted_)) {
    RankRow& row = *find(id);
    if (!row.running() || !row.preempting || row.steps_pending > 0) continue;
    finish_preemption(row, out);
    any = true;
  }
  return any;
}

void RankCore::admit_waiting(Context& context, Effects& out) {
  const bool freeing = std::any_of(admitted_.begin(), admitted_.end(),
                                   [&](RequestId id) { return find(id)->preempting; });
  for (auto next = waiting_.begin(); !freeing && next != waiting_.end();) {
    RankRow& row = *find(*next);
    if (row.parked) {  // it would only hold blocks that others need
      ++next;
      continue;
    }
    if (free_row_ids_.empty()) break;
    if (!reserve(row, row.prefill_length + 2 * args_.device.tokens_per_step_max)) break;
    next = waiting_.erase(next);
    row.state = RowState::kPrefill;
    row.row = free_row_ids_.back();
    free_row_ids_.pop_back();
    if (row.admitted_at == Time()) {
      row.admitted_at = context.now;
      out.observe("vllm:request_queue_time_seconds", (context.now - row.submitted_at).seconds());
    }
    admitted_.push_back(row.id());
  }
}

StepRow RankCore::step_row(RankRow& row, std::uint32_t count, bool sample) {
  StepRow planned;
  planned.row = row.row;
  planned.request = row.id();
  planned.fresh = row.fresh;
  planned.start = row.computed;
  planned.count = count;
  planned.sample = sample;
  planned.input_on_device = row.state == RowState::kDecode;
  planned.generated = row.resumed;
  planned.prompt_length = row.submitted.prompt_length;
  planned.tokens = row.prefill;
  planned.blocks = row.blocks;
  planned.sampling = row.submitted.sampling;
  if (sample && row.output + row.samples_pending < row.submitted.min_tokens) {
    for (const TokenId stop : row.submitted.stop_ids) {
      planned.sampling.bias.emplace_back(stop, -std::numeric_limits<float>::infinity());
    }
  }
  planned.script = row.submitted.script;
  planned.work = row.submitted.sealed.work;
  row.fresh = false;
  row.computed += count;
  ++row.steps_pending;
  if (sample) ++row.samples_pending;
  return planned;
}

bool RankCore::plan_decode(RankRow& row, StepPlan& plan) {
  const std::uint32_t ahead = (row.samples_pending + 1) * args_.device.tokens_per_step_max;
  if (!reserve(row, std::min(row.computed + 1 + ahead, pool_.capacity() * kKvBlockTokens))) {
    preempt_one();
    return false;
  }
  plan.rows.push_back(step_row(row, 1, true));
  return true;
}

bool RankCore::plan_prefill(RankRow& row, std::uint32_t& budget, StepPlan& plan) {
  const std::uint32_t left = row.prefill_length - row.computed;
  const std::uint32_t chunk = std::min(left, budget);
  if (chunk == 0) return false;
  budget -= chunk;
  plan.rows.push_back(step_row(row, chunk, chunk == left));
  if (chunk == left) row.state = RowState::kDecode;
  return true;
}

std::shared_ptr<const StepPlan> RankCore::schedule(Context& context, Effects& out) {
  finish_preemptions(out);
  auto plan = plan_step(context, out);
  // A victim that no step uses gives its blocks at once; with nothing in flight nobody would call
  // again. Each round takes a victim's blocks, so that this ends.
  while (plan->rows.empty() && finish_preemptions(out)) plan = plan_step(context, out);
  if (plan->rows.empty()) return nullptr;
  plan->step = ++next_step_;
  return plan;
}

std::shared_ptr<StepPlan> RankCore::plan_step(Context& context, Effects& out) {
  auto plan = std::make_shared<StepPlan>();
  std::uint32_t budget = args_.limits.max_num_batched_tokens;
  for (const RequestId id : admitted_) {
    RankRow& row = *find(id);
    if (budget == 0) break;
    if (row.state != RowState::kDecode || !wants_step(row)) continue;
    if (plan_decode(row, *plan)) --budget;
  }
  // Only now: blocks that a preemption freed belong to the rows that were there before its victim.
  admit_waiting(context, out);
  for (const RequestId id : admitted_) {
    RankRow& row = *find(id);
    // A row whose prompt ends in this very step is in kDecode now; it was planned above or below.
    if (row.state == RowState::kPrefill && wants_step(row)) plan_prefill(row, budget, *plan);
  }
  return plan;
}

void RankCore::launch_forward(const std::shared_ptr<const StepPlan>& plan, Context& context,
                              Effects& out) {
  if (steps_.empty()) {
    pipeline_began_ = context.now;
    device_busy_ = Duration();
  }
  Step step;
  step.number = plan->step;
  step.forward = OpId(++next_op_);
  step.sample = OpId(++next_op_);
  for (const auto& row : plan->rows) step.rows.push_back(row.request);
  launch(step.forward, LaunchKind::kForward, plan, context, out);
  steps_.push_back(std::move(step));
}

void RankCore::launch_sample(const std::shared_ptr<const StepPlan>& plan, Context& context,
                             Effects& out) {
  launch(steps_.back().sample, LaunchKind::kSample, plan, context, out);
}

void RankCore::launch(OpId op, LaunchKind kind, const std::shared_ptr<const StepPlan>& plan,
                      Context& context, Effects& out) {
  const auto slot = static_cast<std::uint32_t>(plan->step % args_.device.slot_count);
  out.launch({op, args_.stream, kind, slot, plan, {}, context.now + args_.limits.watchdog});
}

void RankCore::fill_pipeline(Context& context, Effects& out) {
  fill_pipeline(context, out, [] {});
}

}  // namespace troupe
