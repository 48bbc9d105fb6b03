// What is in a launch, and what its end means.
#include <algorithm>

#include "actors/pd/engine_core.hpp"

namespace troupe {

namespace {
/// A step takes no longer; a run so often that.
constexpr Duration kStepMost = seconds(60);
/// Of one launch: those behind a cut were timed for nothing. A run of many such launches costs less
/// than a tenth more events.
constexpr std::uint32_t kRunMost = 128;
}  // namespace

bool EngineCore::fits(const Job& job) const {
  return admitted_.size() < args_.limits.rows_most &&
         kv_used_ + job.target() + 1 + decoding_ <= args_.limits.kv_tokens;
}

void EngineCore::admit(Job& job, Time now) {
  admitted_.push_back(&job);
  kv_used_ += job.target();
  job.queued += now - job.since;
  const std::uint64_t known =
      std::uint64_t{cache_.leading(job.sealed.work.chain())} * args_.limits.block_tokens;
  // The last token is computed in any case: the next one comes from it.
  const std::uint64_t most =
      (job.length - 1) / args_.limits.block_tokens * args_.limits.block_tokens;
  job.computed = static_cast<std::uint32_t>(std::min(known, most));
  if (job.generated == 0) hit_ += job.computed;
}

void EngineCore::add_chunk(Job& job, std::uint32_t& budget) {
  const std::uint32_t tokens = std::min(budget, job.target() - job.computed);
  budget -= tokens;
  // What is computed again after a preemption yields nothing new.
  const bool last = job.computed + tokens == job.target() && job.generated == 0;
  next_->chunks.push_back({0, job.request, job.computed, tokens, last, job.sealed.work});
}

void EngineCore::make_room(Context& context, Effects& out) {
  while (kv_used_ + decoding_ > args_.limits.kv_tokens && admitted_.size() > 1) {
    Job& victim = *admitted_.back();
    release(victim);
    victim.computed = 0;
    victim.since = context.now;
    waiting_.push_front(victim.request);
    out.count("vllm:num_preemptions_total");
  }
}

std::uint32_t EngineCore::steps_most() const {
  std::uint64_t most = std::max<std::uint64_t>(1, (args_.limits.kv_tokens - kv_used_) / decoding_);
  for (const Job* job : admitted_) {
    if (job->decoding) most = std::min<std::uint64_t>(most, job->output_most - job->generated);
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, kRunMost));
}

void EngineCore::launch(Context& context, Effects& out) {
  if (plan_ != nullptr) return;
  make_room(context, out);
  std::uint32_t budget =
      args_.limits.step_tokens > decoding_ ? args_.limits.step_tokens - decoding_ : 0;
  for (Job* job : admitted_) {
    if (budget > 0 && !job->decoding) add_chunk(*job, budget);
  }
  for (drop_ended(); budget > 0 && !waiting_.empty(); drop_ended()) {
    Job& job = jobs_.at(waiting_.front());
    if (!fits(job)) break;
    waiting_.pop_front();
    admit(job, context.now);
    if (job.generated == 0) {
      out.observe("vllm:request_queue_time_seconds", job.queued.seconds());
    }
    add_chunk(job, budget);
  }
  if (next_->chunks.empty() && decoding_ == 0) return;
  if (next_->chunks.empty()) next_->steps_most = steps_most();
  plan_ = std::exchange(next_, std::make_shared<GroupPlan>());
  stepping_ = decoding_;
  cut_ = false;
  auto step = std::make_shared<StepPlan>();
  step->step = ++steps_;
  step->group = plan_;
  out.launch({kStep,
              args_.stream,
              LaunchKind::kForward,
              0,
              std::move(step),
              {},
              context.now + kStepMost * plan_->steps_most});
}

void EngineCore::on(const Done<StepResult>& done, Context& context, Effects& out) {
  if (done.failed) return out.fail("a step failed: " + done.error.message);
  const GroupResult& result = *done.output.group.result;
  use_.add(result, done.output.device_time.seconds(), stepping_);
  take_rows(result, out);
  take_chunks(result, out);
  batches_.hand_out(steps_, out);
  plan_ = nullptr;
  launch(context, out);
}

void EngineCore::take_rows(const GroupResult& result, Effects& out) {
  if (stepping_ == 0) return;
  // Those that began to decode with this launch are in it; a list, since ends change admitted_.
  const std::vector<Job*> rows = admitted_;
  for (Job* job : rows) {
    if (!job->decoding) continue;
    job->computed += result.steps;
    job->generated += result.steps;
    kv_used_ += result.steps;
    const auto& ended = result.ended;
    const bool complete = std::any_of(ended.begin(), ended.end(), [&](const GroupEnd& end) {
      return end.request == job->request;
    });
    if (complete) {
      show(*job, Finish::kStop, out);
    } else if (job->generated >= job->output_most) {
      show(*job, Finish::kLength, out);
    }
  }
}

void EngineCore::take_chunks(const GroupResult& result, Effects& out) {
  for (const GroupChunk& chunk : plan_->chunks) {
    Job* const known = jobs_.find(chunk.request);
    if (known == nullptr) continue;
    Job& job = *known;
    job.computed += chunk.tokens;
    if (job.computed < job.target()) continue;
    cache_.touch(prompt_chain(chunk.work.chain(), job.length, args_.limits.block_tokens));
    job.decoding = true;
    ++decoding_;
    if (chunk.last) ++job.generated;
    next_->enters.push_back({0, job.request, job.target(), job.generated, chunk.work});
    if (!chunk.last) continue;
    // The new token's KV comes with the step that reads it.
    const auto& ended = result.ended;
    const bool complete = std::any_of(ended.begin(), ended.end(), [&](const GroupEnd& end) {
      return end.request == job.request;
    });
    const Finish finish = complete                           ? Finish::kStop
                          : job.generated >= job.output_most ? Finish::kLength
                                                             : Finish::kNone;
    show(job, finish, out);
  }
}

}  // namespace troupe
