#include "actors/pd/prefill_engine_core.hpp"

#include "actors/pd/token_batches.hpp"

namespace troupe {

namespace {
constexpr OpId kPrefillStep{1};
/// How many steps of the fit pass between two reports to the balancer.
constexpr std::uint64_t kLearnedEvery = 64;
}  // namespace

PrefillEngineCore::PrefillEngineCore(const Args& args)
    : args_(args),
      queues_(args.members, ChunkQueue(args.curve, args.budget, args.limits)),
      fit_(args.curve) {
  use_.members = args.members;
}

void PrefillEngineCore::on(const Started&, Context& context, Effects& out) {
  PrefillEngineJoined joined;
  joined.engine = context.self;
  joined.ranks.assign(args_.members, context.self);
  out.send(args_.balancer, make_message<PrefillEngineJoined>(std::move(joined)));
}

void PrefillEngineCore::on(const StartPrefill& start, Context& context, Effects& out) {
  TROUPE_ASSERT(start.member < args_.members && start.hit < start.length, "the balancer counts");
  TROUPE_ASSERT(jobs_.find(start.request.value) == nullptr, "a request is here once");
  jobs_.insert(start.request.value, Job{context.from, start});
  by_flow_.insert(context.from.local, start.request);
  out.watch(context.from);
  queues_[start.member].push(start.request, start.hit, start.length);
  launch(context, out);
}

void PrefillEngineCore::on(const StopPrefill& stop, Context&, Effects& out) {
  if (jobs_.find(stop.request.value) != nullptr) drop(stop.request, out);
}

void PrefillEngineCore::on(const Down& down, Context&, Effects& out) {
  const RequestId* request = by_flow_.find(down.ref.local);
  if (request != nullptr) drop(*request, out);
}

void PrefillEngineCore::drop(RequestId request, Effects& out) {
  const Job& job = *jobs_.find(request.value);
  queues_[job.start.member].withdraw(request);
  out.unwatch(job.flow);
  by_flow_.erase(job.flow.local);
  jobs_.erase(request.value);
}

void PrefillEngineCore::launch(Context& context, Effects& out) {
  if (plan_ != nullptr) return;
  auto plan = std::make_shared<GroupPlan>();
  for (std::uint32_t member = 0; member < args_.members; ++member) {
    for (const auto& chunk : queues_[member].next_step()) {
      const Job& job = *jobs_.find(chunk.request.value);
      plan->chunks.push_back(
          {member, chunk.request, chunk.start, chunk.tokens, chunk.last, job.start.sealed.work});
      if (chunk.last) out.send(job.flow, make_message<PrefillScheduled>(chunk.request));
    }
  }
  if (plan->chunks.empty()) return;
  plan_ = std::move(plan);
  auto step = std::make_shared<StepPlan>();
  step->step = ++steps_;
  step->group = plan_;
  out.launch({kPrefillStep,
              args_.stream,
              LaunchKind::kForward,
              0,
              std::move(step),
              {},
              context.now + kStepMost});
}

void PrefillEngineCore::on(const Done<StepResult>& done, Context& context, Effects& out) {
  if (done.failed) return out.fail("a step failed: " + done.error.message);
  const GroupResult& result = *done.output.group.result;
  use_.add(result, done.output.device_time.seconds(), 0);
  for (ChunkQueue& queue : queues_) queue.took(done.output.device_time);
  learn(result, out);
  tell_progress(result, context, out);
  plan_ = nullptr;
  launch(context, out);
}

void PrefillEngineCore::learn(const GroupResult& result, Effects& out) {
  if (!args_.fit) return;
  std::vector<StepSample> samples(args_.members);
  for (const GroupChunk& chunk : plan_->chunks) {
    samples[chunk.member].add(chunk.tokens, chunk.start);
  }
  for (std::uint32_t member = 0; member < args_.members; ++member) {
    if (samples[member].tokens == 0) continue;
    samples[member].took = result.own[member];
    fit_.observe(samples[member]);
  }
  const PrefillCurve curve = fit_.curve();
  for (ChunkQueue& queue : queues_) queue.set_curve(curve);
  if (steps_ % kLearnedEvery == 0) {
    out.send(args_.balancer, make_message<PrefillCurveLearned>(curve.a, curve.b, curve.g));
  }
}

void PrefillEngineCore::tell_progress(const GroupResult& result, Context& context, Effects& out) {
  PrefillAdvanced advanced;
  TokenBatches batches;
  std::size_t ended = 0;
  for (const GroupChunk& chunk : plan_->chunks) {
    const Job* job = jobs_.find(chunk.request.value);
    // The device tells ends in the order of chunks.
    const bool complete =
        ended < result.ended.size() && result.ended[ended].request == chunk.request;
    if (complete) ++ended;
    if (job == nullptr) continue;
    advanced.rows.push_back({chunk.request, job->start.generation, chunk.start + chunk.tokens});
    if (!chunk.last) continue;
    batches.add(job->start.streams, job->start.as, chunk.request, 0, 1, complete);
    out.send(job->flow, make_message<PrefillEnded>(chunk.request, complete));
    drop(chunk.request, out);
  }
  batches.hand_out(steps_, out);
  if (advanced.rows.empty()) return;
  advanced.engine = context.self;
  out.send(args_.balancer, make_message<PrefillAdvanced>(std::move(advanced)));
}

std::string PrefillEngineCore::describe() const {
  return "jobs=" + std::to_string(jobs_.size()) + " steps=" + std::to_string(steps_);
}

}  // namespace troupe
