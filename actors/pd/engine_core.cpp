// How requests come and go.
#include "actors/pd/engine_core.hpp"

#include <algorithm>

#include "actors/gateway/gateway_messages.hpp"

namespace troupe {

EngineCore::EngineCore(const Args& args)
    : args_(args),
      cache_(args.limits.prefix_cache
                 ? static_cast<std::uint32_t>(args.limits.kv_tokens / args.limits.block_tokens)
                 : 0),
      next_(std::make_shared<GroupPlan>()) {
  next_->reset = true;
  use_.members = 1;
}

void EngineCore::on(const Started&, Context& context, Effects& out) {
  self_ = context.self;
  RankJoined joined;
  joined.rank = context.self;
  joined.models = {args_.model};
  joined.capacity = args_.limits.rows_most + args_.limits.queue_most;
  joined.context_max = args_.limits.context_most;
  out.send(args_.node, make_message<RankJoined>(std::move(joined)));
}

Status EngineCore::admissible(const SubmitRow& submit) const {
  const EngineLimits& limits = args_.limits;
  if (jobs_.size() >= std::size_t{limits.queue_most} + limits.rows_most) {
    return Error{Code::kUnavailable, "the queue is full; try again"};
  }
  const std::uint64_t most = std::min<std::uint64_t>(limits.context_most, limits.kv_tokens);
  if (submit.prompt_length == 0 || submit.prompt_length >= most) {
    return Error{Code::kInvalid, "the prompt has " + std::to_string(submit.prompt_length) +
                                     " tokens, but prompt and answer may have 2 to " +
                                     std::to_string(most) + " here"};
  }
  if (jobs_.contains(submit.request) || by_owner_.contains(submit.owner)) {
    return Error{Code::kUnsupported, "a simulated engine gives one answer a request"};
  }
  return ok_status();
}

void EngineCore::on(const SubmitRow& submit, Context& context, Effects& out) {
  if (const Status status = admissible(submit); !status.ok()) {
    out.send(submit.owner, make_message<RowRejected>(submit.request, status.error().code,
                                                     status.error().message));
    return;
  }
  Job job;
  job.owner = submit.owner;
  job.streams = submit.streams;
  job.sealed = submit.sealed;
  job.request = submit.request;
  job.length = submit.prompt_length;
  const std::uint64_t most =
      std::min<std::uint64_t>(args_.limits.context_most, args_.limits.kv_tokens);
  const auto room = static_cast<std::uint32_t>(most - submit.prompt_length);
  job.output_most = submit.max_tokens == 0 ? room : std::min(submit.max_tokens, room);
  job.since = context.now;
  by_owner_.insert(submit.owner, submit.request);
  out.watch(submit.owner);
  asked_ += job.length;
  const Job& known = jobs_.insert(submit.request, std::move(job));
  drop_ended();
  waiting_.push_back(submit.request);
  if (plan_ == nullptr) return launch(context, out);
  if (waiting_.front() == submit.request && fits(known)) cut_run(out);
}

void EngineCore::on(const CancelRow& cancel, Context&, Effects& out) {
  Job* const job = jobs_.find(cancel.request);
  if (job == nullptr) return;
  forget(*job, out);
  if (plan_ != nullptr && !next_->leaves.empty()) cut_run(out);
}

void EngineCore::on(const Down& down, Context&, Effects& out) {
  const RequestId* request = by_owner_.find(down.ref);
  if (request == nullptr) return;
  forget(jobs_.at(*request), out);
  if (plan_ != nullptr && !next_->leaves.empty()) cut_run(out);
}

void EngineCore::cut_run(Effects& out) {
  if (cut_ || plan_->steps_most == 1) return;
  cut_ = true;
  out.cancel(kStep);
}

void EngineCore::drop_ended() {
  while (!waiting_.empty() && !jobs_.contains(waiting_.front())) waiting_.pop_front();
}

void EngineCore::release(Job& job) {
  const auto at = std::find(admitted_.begin(), admitted_.end(), &job);
  if (at == admitted_.end()) return;
  admitted_.erase(at);
  kv_used_ -= job.decoding ? job.computed : job.target();
  if (!job.decoding) return;
  --decoding_;
  job.decoding = false;
  // It may not have entered yet: then it never does.
  const auto entered =
      std::erase_if(next_->enters, [&](const auto& one) { return one.request == job.request; });
  if (entered == 0) next_->leaves.push_back({0, job.request});
}

void EngineCore::forget(Job& job, Effects& out) {
  release(job);
  out.unwatch(job.owner);
  by_owner_.erase(job.owner);
  jobs_.erase(RequestId(job.request));
}

void EngineCore::show(Job& job, Finish finish, Effects& out) {
  RowTokens row;
  row.request = job.request;
  row.first = job.shown;
  row.unseen = job.generated - job.shown;
  row.finish = finish;
  if (job.shown == 0) row.queued = job.queued;
  job.shown = job.generated;
  batches_.add(job.streams, self_, std::move(row));
  if (finish != Finish::kNone) forget(job, out);
}

std::string EngineCore::describe() const {
  return "jobs=" + std::to_string(jobs_.size()) + " steps=" + std::to_string(use_.steps);
}

}  // namespace troupe
