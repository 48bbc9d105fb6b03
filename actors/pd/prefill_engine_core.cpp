#include "actors/pd/prefill_engine_core.hpp"

#include <algorithm>

#include "actors/pd/hit_policy.hpp"
#include "actors/pd/token_batches.hpp"

namespace troupe {

namespace {
constexpr OpId kPrefillStep{1};
constexpr TimerTag kPrefillJoin{1, 0};
/// How many steps of the fit pass between two reports to the balancer.
constexpr std::uint64_t kLearnedEvery = 64;
}  // namespace

PrefillEngineCore::PrefillEngineCore(const Args& args)
    : args_(args),
      queues_(args.members, ChunkQueue(args.curve, args.budget, args.limits)),
      fit_(args.curve),
      cache_(args.cache_blocks) {
  use_.members = args.members;
}

void PrefillEngineCore::on(const Started&, Context& context, Effects& out) {
  join(context, out);
}

void PrefillEngineCore::on(const TimerFired&, Context& context, Effects& out) {
  if (!known_) join(context, out);
}

void PrefillEngineCore::join(Context& context, Effects& out) {
  PrefillEngineJoined joined;
  joined.engine = context.self;
  joined.ranks.assign(args_.members, context.self);
  out.send(args_.balancer, make_message<PrefillEngineJoined>(std::move(joined)));
  out.timer(kPrefillJoin, context.now + kJoinAgain);
}

void PrefillEngineCore::on(const StartPrefill& start, Context& context, Effects& out) {
  if (start.member >= args_.members || start.hit >= start.length) {
    return out.warn("start_prefill_refused", "it names no rank of this engine, or no tokens");
  }
  known_ = true;
  if (jobs_.contains(start.request.value)) drop(start.request);  // its stop was lost
  jobs_.insert(start.request.value, Job{context.from, start, context.now + start.time_left});
  if (std::find(routes_.begin(), routes_.end(), context.from) == routes_.end()) {
    routes_.push_back(context.from);
    out.watch(context.from);
  }
  const std::uint32_t hit = hit_of(start);
  use_.asked += start.length;
  use_.hit += hit;
  queues_[start.member].push(start.request, hit, start.length);
  launch(context, out);
}

std::uint32_t PrefillEngineCore::hit_of(const StartPrefill& start) const {
  if (args_.cache_blocks == 0 || start.sealed.work.output == 0) return start.hit;
  // The balancer only guesses what is here.
  const std::uint64_t stored =
      std::uint64_t{cache_.leading(start.sealed.work.chain())} * kBlockTokens;
  return prefix_hit(start.length,
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(stored, start.length)),
                    true);
}

void PrefillEngineCore::on(const StopPrefill& stop, Context& context, Effects& out) {
  if (jobs_.contains(stop.request.value)) drop(stop.request);
  out.send(context.from, make_message<GroupStopped>(stop.request));
}

void PrefillEngineCore::on(const AskGroup& ask, Context& context, Effects& out) {
  const bool here = jobs_.contains(ask.request.value);
  out.send(context.from, make_message<GroupHas>(ask.request, here));
}

void PrefillEngineCore::on(const Down& down, Context&, Effects&) {
  std::erase(routes_, down.ref);
  std::vector<RequestId> gone;
  jobs_.for_each([&](std::uint64_t request, const Job& job) {
    if (job.route == down.ref) gone.emplace_back(request);
  });
  std::sort(gone.begin(), gone.end());
  for (const RequestId request : gone) drop(request);
}

void PrefillEngineCore::drop(RequestId request) {
  queues_[jobs_.at(request.value).start.member].withdraw(request);
  jobs_.erase(request.value);
}

void PrefillEngineCore::want_place(const Job& job, Time now, Wanted& wanted) {
  WantedPlace row;
  row.request = job.start.request;
  row.context = job.start.length;
  row.output_most = job.start.output_most;
  row.time_left = job.until - now;
  ReserveDecode& reserve = wanted.of(job.route);
  reserve.owner = job.route;
  reserve.rows.push_back(row);
}

void PrefillEngineCore::launch(Context& context, Effects& out) {
  if (plan_ != nullptr) return;
  auto plan = std::make_shared<GroupPlan>();
  Wanted wanted;
  for (std::uint32_t member = 0; member < args_.members; ++member) {
    for (const auto& chunk : queues_[member].next_step()) {
      const Job& job = jobs_.at(chunk.request.value);
      plan->chunks.push_back(
          {member, chunk.request, chunk.start, chunk.tokens, chunk.last, job.start.sealed.work});
      if (chunk.last) want_place(job, context.now, wanted);
    }
  }
  if (plan->chunks.empty()) return;
  wanted.hand_out_to(args_.decode_balancer, out);
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
  RowsByOwner<PrefillEnded> told;
  std::size_t ended = 0;
  for (const GroupChunk& chunk : plan_->chunks) {
    const Job* const job = jobs_.find(chunk.request.value);
    // The device tells ends in the order of chunks.
    const bool complete =
        ended < result.ended.size() && result.ended[ended].request == chunk.request;
    if (complete) ++ended;
    if (job == nullptr) continue;
    const StartPrefill& start = job->start;
    advanced.rows.push_back({chunk.request, start.generation, chunk.start + chunk.tokens});
    if (!chunk.last) continue;
    // A chain goes on with the answer's blocks, which decode computes.
    cache_.touch(prompt_chain(chunk.work.chain(), start.length, kBlockTokens));
    batches.add(start.streams, job->route, chunk.request, 0, 1, complete);
    told.of(job->route).rows.push_back({chunk.request, complete});
    drop(chunk.request);
  }
  batches.hand_out(steps_, out);
  told.hand_out(out);
  if (advanced.rows.empty()) return;
  advanced.engine = context.self;
  out.send(args_.balancer, make_message<PrefillAdvanced>(std::move(advanced)));
}

std::size_t PrefillEngineCore::queued() const {
  std::size_t sum = 0;
  for (const ChunkQueue& queue : queues_) sum += queue.size();
  return sum;
}

std::string PrefillEngineCore::describe() const {
  return "jobs=" + std::to_string(jobs_.size()) + " steps=" + std::to_string(steps_);
}

}  // namespace troupe
