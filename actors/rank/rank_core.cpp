#include "actors/rank/rank_core.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The request actor ends a request at its deadline; the rank only if that message got lost.
constexpr Duration kBackstopGrace = seconds(5);
/// Blocks held for longer than this after their owner's end count as orphaned (DESIGN, Leases).
constexpr Duration kOrphanAge = seconds(1);
/// A full window of TokenBatches that nobody answered for so long counts as lost.
constexpr Duration kCreditAge = seconds(1);

}  // namespace

RankCore::RankCore(const Args& args) : args_(args), pool_(args.device.block_count) {
  TROUPE_ASSERT(args_.device.slot_count >= 2, "two steps in flight need two pinned slots");
  TROUPE_ASSERT(args_.limits.max_num_seqs > 0, "a rank runs at least one row");
  for (std::uint32_t i = args_.limits.max_num_seqs; i > 0; --i) free_row_ids_.emplace_back(i - 1);
}

RankRow* RankCore::find(RequestId id) {
  const auto at = rows_.find(id);
  return at == rows_.end() ? nullptr : &at->second;
}

void RankCore::on(const Started&, Context&, Effects& out) {
  out.gauge("troupe_kv_blocks_orphaned", orphaned_);  // there from the start, for who scrapes it
  report_load(out);
}

Status RankCore::admissible(const SubmitRow& submit) const {
  if (draining_) return Error{Code::kUnavailable, "the rank is draining"};
  const bool starts_at_once = waiting_.empty() && !free_row_ids_.empty();
  if (waiting_.size() >= args_.limits.queue_max && !starts_at_once) {
    return Error{Code::kUnavailable,
                 "the queue is full: " + std::to_string(waiting_.size()) + " requests wait"};
  }
  const std::uint32_t limit = context_limit();
  if (submit.prompt_length == 0) return Error{Code::kInvalid, "the prompt is empty"};
  if (submit.prompt_length >= limit) {
    return Error{Code::kInvalid, "the prompt has " + std::to_string(submit.prompt_length) +
                                     " tokens, but this model's context holds at most " +
                                     std::to_string(limit) + " tokens of prompt and answer"};
  }
  if (!submit.prompt.empty() && submit.prompt.size() != submit.prompt_length) {
    return Error{Code::kInvalid, "the prompt's length is not its number of tokens"};
  }
  for (const TokenId token : submit.prompt) {
    if (token.value < 0 || static_cast<std::uint32_t>(token.value) >= args_.device.vocabulary) {
      return Error{Code::kInvalid, "the prompt names token " + std::to_string(token.value) +
                                       ", but the model has " +
                                       std::to_string(args_.device.vocabulary)};
    }
  }
  if (rows_.contains(submit.request)) return Error{Code::kInvalid, "the request runs already"};
  return ok_status();
}

void RankCore::reject(const SubmitRow& submit, Code code, std::string message, Effects& out) {
  out.count("troupe_rank_rejected_total");
  out.send(submit.owner, make_message<RowRejected>(submit.request, code, std::move(message)));
}

void RankCore::on(const SubmitRow& submit, Context& context, Effects& out) {
  if (const Status status = admissible(submit); !status.ok()) {
    return reject(submit, status.error().code, status.error().message, out);
  }
  RankRow row;
  row.submitted = submit;
  row.prefill_length = submit.prompt_length;
  row.prefill = submit.prompt.shared();
  row.submitted.prompt.clear();
  const std::uint32_t room = context_limit() - submit.prompt_length;
  row.output_max = submit.max_tokens == 0 ? room : std::min(submit.max_tokens, room);
  row.submitted_at = context.now;
  out.watch(submit.owner);
  out.timer({kRowBackstop, submit.request.value}, context.now + submit.time_left + kBackstopGrace);
  waiting_.push_back(submit.request);
  rows_.emplace(submit.request, std::move(row));
  fill_pipeline(context, out);
  report_load(out);
}

void RankCore::on(const CancelRow& cancel, Context& context, Effects& out) {
  RankRow* row = find(cancel.request);
  if (row == nullptr) return;
  end_row(*row, out);
  fill_pipeline(context, out);
  report_load(out);
}

void RankCore::on(const Down& down, Context& context, Effects& out) {
  std::vector<RequestId> owned;
  for (auto& [id, row] : rows_) {
    if (row.submitted.owner != down.ref) continue;
    if (!row.owner_ended_at) row.owner_ended_at = context.now;
    owned.push_back(id);
  }
  for (const RequestId id : owned) {
    if (RankRow* row = find(id)) end_row(*row, out);
  }
  for (const RequestId id : owned) {
    if (rows_.contains(id)) out.timer({kOrphanCheck, 0}, context.now + kOrphanAge);
  }
  fill_pipeline(context, out);
  report_load(out);
}

void RankCore::on(const Undeliverable& lost, Context& context, Effects& out) {
  // Its stream table is gone: nobody will read these rows' tokens. Their owners end them as well.
  std::vector<RequestId> unread;
  for (const auto& [id, row] : rows_) {
    if (row.submitted.streams == lost.to) unread.push_back(id);
  }
  for (const RequestId id : unread) end_row(*find(id), out);
  unacked_.erase(lost.to);
  fill_pipeline(context, out);
  report_load(out);
}

void RankCore::on(const ParkRow& park, Context& context, Effects& out) {
  RankRow* row = find(park.request);
  if (row == nullptr) return;
  row->parked = park.parked;
  fill_pipeline(context, out);
}

void RankCore::on(const BatchTaken& taken, Context& context, Effects& out) {
  const auto at = unacked_.find(context.from);
  if (at == unacked_.end()) return;
  auto& steps = at->second;
  const std::size_t window = args_.limits.unacked_batches_max;
  const bool was_full = steps.size() >= window;
  while (!steps.empty() && steps.front() <= taken.step) steps.pop_front();
  const bool reopened = was_full && steps.size() < window;
  if (steps.empty()) unacked_.erase(at);
  if (!reopened) return;
  out.cancel_timer({kCreditCheck, context.from.local});
  fill_pipeline(context, out);
}

bool RankCore::spend_credit(const ActorRef& streams, std::uint64_t step, Context& context,
                            Effects& out) {
  auto& steps = unacked_[streams];
  steps.push_back(step);
  const std::size_t window = args_.limits.unacked_batches_max;
  if (steps.size() == window) {
    out.timer({kCreditCheck, streams.local}, context.now + kCreditAge);
  }
  return steps.size() >= window || steps.size() % std::max<std::size_t>(1, window / 4) == 0;
}

void RankCore::give_up_credits(std::uint64_t streams, Context& context, Effects& out) {
  // Every batch of a full window or its answer was lost, or its receiver is stuck. In the first
  // case rows must go on; in the second the next window bounds what it is sent.
  const auto lost =
      std::erase_if(unacked_, [&](const auto& entry) { return entry.first.local == streams; });
  if (lost > 0) out.count("troupe_rank_credits_lost_total");
  fill_pipeline(context, out);
}

void RankCore::on(const TimerFired& fired, Context& context, Effects& out) {
  if (fired.tag.kind == kOrphanCheck) return check_orphans(context, out);
  if (fired.tag.kind == kCreditCheck) return give_up_credits(fired.tag.key, context, out);
  RankRow* row = find(RequestId(fired.tag.key));
  if (row == nullptr) return;
  out.warn("row_backstop", "request " + std::to_string(fired.tag.key) +
                               " outlived its deadline; its owner did not end it");
  end_row(*row, out);
  fill_pipeline(context, out);
}

void RankCore::on(const Drain&, Context& context, Effects& out) {
  draining_ = true;
  if (rows_.empty()) out.stop("drained");
  fill_pipeline(context, out);
}

void RankCore::end_row(RankRow& row, Effects& out) {
  if (row.state == RowState::kWaiting) std::erase(waiting_, row.id());
  if (row.state == RowState::kEnding) return;
  row.state = RowState::kEnding;
  const RequestId id = row.id();
  release_if_unused(id, out);
  // Nobody waits for a step whose rows are all over: let the device stop early.
  for (const auto& step : steps_) {
    const bool all_over = std::all_of(step.rows.begin(), step.rows.end(), [&](RequestId other) {
      const RankRow* one = find(other);
      return one == nullptr || one->state == RowState::kEnding;
    });
    if (!all_over) continue;
    out.cancel(step.forward);
    out.cancel(step.sample);
  }
}

void RankCore::release_if_unused(RequestId id, Effects& out) {
  RankRow* row = find(id);
  if (row == nullptr || row->state != RowState::kEnding || row->steps_pending > 0) return;
  if (std::erase(admitted_, id) > 0) free_row_ids_.push_back(row->row);
  pool_.give_back(row->blocks);
  out.cancel_timer({kRowBackstop, id.value});
  out.unwatch(row->submitted.owner);
  rows_.erase(id);
  if (draining_ && rows_.empty()) out.stop("drained");
}

void RankCore::check_orphans(Context& context, Effects& out) {
  orphaned_ = 0;
  bool waiting = false;
  for (const auto& [id, row] : rows_) {
    if (!row.owner_ended_at || row.blocks.empty()) continue;
    if (context.now - *row.owner_ended_at >= kOrphanAge) {
      orphaned_ += static_cast<std::uint32_t>(row.blocks.size());
    }
    waiting = true;
  }
  out.gauge("troupe_kv_blocks_orphaned", orphaned_);
  if (waiting) out.timer({kOrphanCheck, 0}, context.now + kOrphanAge);
}

void RankCore::report_load(Effects& out) {
  out.gauge("vllm:num_requests_running", static_cast<double>(admitted_.size()));
  out.gauge("vllm:num_requests_waiting", static_cast<double>(waiting_.size()));
  out.gauge("vllm:kv_cache_usage_perc",
            pool_.capacity() == 0 ? 0.0 : static_cast<double>(pool_.held()) / pool_.capacity());
}

const char* RankCore::phase() const {
  if (draining_) return "draining";
  if (!steps_.empty()) return "stepping";
  return rows_.empty() ? "idle" : "waiting";
}

std::string RankCore::describe() const {
  return "running=" + std::to_string(admitted_.size()) +
         " waiting=" + std::to_string(waiting_.size()) + " blocks=" + std::to_string(pool_.held()) +
         "/" + std::to_string(pool_.capacity()) + " steps=" + std::to_string(next_step_) +
         " in_flight=" + std::to_string(steps_.size()) +
         " preemptions=" + std::to_string(preemptions_) + " orphaned=" + std::to_string(orphaned_);
}

}  // namespace troupe
