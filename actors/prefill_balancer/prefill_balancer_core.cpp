#include "actors/prefill_balancer/prefill_balancer_core.hpp"

#include <cmath>

namespace troupe {

namespace {
/// Of a round: when the first demand is looked at. Long enough for more than one request of a pool
/// that needs a split at all, short against its first tokens' time.
constexpr std::int64_t kEarlyRound = 8;
enum PrefillTimer : std::uint32_t { kRoundTimer, kDeadlineTimer, kSilenceTimer };

std::unique_ptr<PrefillPolicy> make_policy(const PrefillBalancerCore::Args& args,
                                           PrefillPool& pool) {
  if (args.rule == PrefillRule::kBuckets) return std::make_unique<BucketPolicy>(pool, args.buckets);
  return std::make_unique<PushPolicy>(pool, args.rule, args.push);
}
}  // namespace

PrefillBalancerCore::PrefillBalancerCore(const Args& args)
    : args_(args),
      pool_(std::make_unique<PrefillPool>(args.curve)),
      policy_(make_policy(args, *pool_)) {
  if (args.rule != PrefillRule::kBuckets) push_ = static_cast<PushPolicy*>(policy_.get());
}

void PrefillBalancerCore::on(const Started&, Context& context, Effects& out) {
  out.info("prefill_balancer_started", "policy " + std::string(to_string(args_.rule)));
  out.timer({kRoundTimer, 0}, context.now + args_.round);
}

void PrefillBalancerCore::on(const PrefillEngineJoined& joined, Context& context, Effects& out) {
  if (engines_.contains(joined.engine)) return;
  bool usable = !joined.ranks.empty();
  for (const ActorRef& rank : joined.ranks) usable = usable && !ranks_.contains(rank);
  if (!usable) {
    return out.warn("prefill_engine_refused",
                    to_string(joined.engine) + ": no ranks, or one of another engine");
  }
  const EngineId id = pool_->add_engine(static_cast<std::uint32_t>(joined.ranks.size()));
  const auto at =
      engines_.emplace(joined.engine, Engine{id, joined.ranks, joined.announces_blocks, false})
          .first;
  if (engine_of_.size() <= id.value) engine_of_.resize(id.value + 1);
  engine_of_[id.value] = &*at;
  for (const ActorRef& rank : joined.ranks) {
    ranks_[rank] = joined.engine;
    out.watch(rank);
  }
  if (joined.announces_blocks) {
    out.timer({kSilenceTimer, id.value}, context.now + args_.silence);
  }
  out.info("prefill_engine_joined",
           to_string(joined.engine) + ", " + std::to_string(joined.ranks.size()) + " ranks");
  Handouts handouts;
  policy_->joined(id, handouts);
  assign(handouts, out);
}

void PrefillBalancerCore::on(const PrefillEngineLeft& left, Context& context, Effects& out) {
  end_engine(left.engine, "left", context, out);
}

void PrefillBalancerCore::end_engine(const ActorRef& ref, const char* why, Context&, Effects& out) {
  const auto at = engines_.find(ref);
  if (at == engines_.end()) return;
  const Engine engine = std::move(at->second);
  engine_of_[engine.id.value] = nullptr;
  engines_.erase(at);
  for (const ActorRef& rank : engine.ranks) {
    ranks_.erase(rank);
    out.unwatch(rank);
  }
  out.cancel_timer({kSilenceTimer, engine.id.value});
  set_silent(ref, false, out);
  out.warn("prefill_engine_ended", to_string(ref) + ": " + why);
  const std::vector<RequestId> jobs = pool_->jobs_of(engine.id);
  for (const RequestId request : jobs) pool_->take_back(*pool_->find(request));
  policy_->left(engine.id);
  pool_->remove_engine(engine.id);
  Handouts handouts;
  for (const RequestId request : jobs) {
    wait(request, *owners_.kept_of(request));
    policy_->arrived(*pool_->find(request), handouts);
  }
  assign(handouts, out);
  watch_deadlines(out);
}

void PrefillBalancerCore::on(const SubmitPrefill& submit, Context& context, Effects& out) {
  if (!submit.owner) return out.warn("submit_prefill_refused", "a request without an owner");
  const auto refused = [&](Code code, std::string message) {
    refuse(submit.owner, submit.request, {code, std::move(message)}, out);
  };
  if (draining_) return refused(Code::kUnavailable, "the prefill balancer drains");
  const Status fresh = owners_.check(submit.request, submit.owner);
  if (!fresh.ok()) return refused(fresh.error().code, fresh.error().message);
  if (submit.hit >= submit.length || submit.length > args_.length_most) {
    return refused(Code::kInvalid, "a prompt of " + std::to_string(submit.length) +
                                       " tokens with " + std::to_string(submit.hit) +
                                       " hit cannot be computed");
  }
  if (policy_->waiting() >= args_.waiting_most) {
    return refused(Code::kUnavailable, "the prefill queue is full (" +
                                           std::to_string(args_.waiting_most) +
                                           " requests); try again");
  }
  PrefillJob job;
  job.request = submit.request;
  job.length = submit.length;
  job.hit = submit.hit;
  job.affinity = submit.affinity;
  job.chain = submit.chain;
  job.came = context.now;
  const Time until = context.now + submit.time_left;
  if (owners_.add(submit.request, submit.owner, until)) out.watch(submit.owner);
  wait(submit.request, until);
  Handouts handouts;
  policy_->arrived(pool_->add_job(std::move(job)), handouts);
  if (policy_->wants_round() && !round_is_early_) {
    round_is_early_ = true;
    out.timer({kRoundTimer, 0}, context.now + args_.round / kEarlyRound);
  }
  assign(handouts, out);
  watch_deadlines(out);
}

void PrefillBalancerCore::refuse(const ActorRef& owner, RequestId request, Error error,
                                 Effects& out) {
  out.send(owner, make_message<PrefillRefused>(request, error.code, std::move(error.message)));
}

void PrefillBalancerCore::wait(RequestId request, Time until) {
  deadlines_.push(until, request, policy_->waiting() + 1,
                  [this](const auto& entry) { return holds(entry); });
}

bool PrefillBalancerCore::holds(const DeadlineHeap::Entry& deadline) const {
  const PrefillJob* job = pool_->find(deadline.second);
  return job != nullptr && job->waiting() && *owners_.kept_of(deadline.second) == deadline.first;
}

void PrefillBalancerCore::assign(const Handouts& handouts, Effects& out) {
  for (const RequestId request : handouts) {
    const PrefillJob& job = *pool_->find(request);
    const auto& [engine, known] = *engine_of_[job.engine.value];
    out.send(*owners_.owner_of(request),
             make_message<PrefillAssigned>(request, engine, known.ranks[job.rank], job.generation,
                                           job.computed, job.rank));
  }
}

void PrefillBalancerCore::on(const ReleasePrefill& release, Context& context, Effects& out) {
  for (const RequestId request : release.requests) {
    if (owners_.owner_of(request) != nullptr) end_job(request, context, out);
  }
}

void PrefillBalancerCore::end_job(RequestId request, Context&, Effects& out) {
  PrefillJob& job = *pool_->find(request);
  Handouts handouts;
  if (job.waiting()) {
    policy_->withdrawn(job);
    pool_->drop_job(request);
  } else {
    const EngineId engine = job.engine;
    pool_->take_back(job);
    pool_->drop_job(request);
    policy_->has_room(engine, handouts);
  }
  forget(request, out);
  assign(handouts, out);
}

void PrefillBalancerCore::forget(RequestId request, Effects& out) {
  const ActorRef owner = *owners_.owner_of(request);
  if (owners_.remove(request)) out.unwatch(owner);
  if (draining_ && owners_.size() == 0) out.stop("drained");
}

void PrefillBalancerCore::on(const PrefillAdvanced& advanced, Context&, Effects& out) {
  const auto engine = engines_.find(advanced.engine);
  if (engine == engines_.end()) return;
  const EngineId id = engine->second.id;
  for (const PrefillRow& row : advanced.rows) {
    PrefillJob* job = pool_->find(row.request);
    if (job == nullptr || job->engine != id || job->generation != row.generation) continue;
    pool_->advance(*job, row.computed);
    if (job->computed < job->length) continue;
    policy_->computed(*job);
    pool_->take_back(*job);
    pool_->drop_job(row.request);
    forget(row.request, out);
  }
  Handouts handouts;
  policy_->has_room(id, handouts);
  assign(handouts, out);
}

void PrefillBalancerCore::on(const PrefillCurveLearned& learned, Context&, Effects& out) {
  for (const double constant : {learned.a, learned.b, learned.g}) {
    if (std::isfinite(constant) && constant >= 0 && constant < 1e12) continue;
    return out.warn("prefill_curve_refused", "a constant is negative or not finite");
  }
  pool_->set_curve({learned.a, learned.b, learned.g});
}

void PrefillBalancerCore::on(const PrefixBlocksChanged& changed, Context&, Effects& out) {
  const auto engine = engines_.find(changed.engine);
  if (engine == engines_.end()) return;
  engine->second.reported = true;
  set_silent(changed.engine, false, out);
  if (push_ != nullptr) push_->reported(engine->second.id, changed.stored, changed.evicted);
}

void PrefillBalancerCore::on(const TimerFired& fired, Context& context, Effects& out) {
  switch (fired.tag.kind) {
    case kRoundTimer: {
      Handouts handouts;
      round_is_early_ = false;
      policy_->round(handouts);
      assign(handouts, out);
      return out.timer({kRoundTimer, 0}, context.now + args_.round);
    }
    case kDeadlineTimer:
      armed_.reset();
      return run_deadlines(context, out);
    case kSilenceTimer: {
      const auto& [engine, known] = *engine_of_[fired.tag.key];
      if (known.reported) return;
      set_silent(engine, true, out);
      return out.warn("prefix_reports_missing",
                      to_string(engine) +
                          " announced reports of its prefix cache and sent none; it is guessed");
    }
    default:
      TROUPE_ASSERT(false, "a timer of our own kinds");
  }
}

void PrefillBalancerCore::set_silent(const ActorRef& engine, bool silent, Effects& out) {
  const bool changed = silent ? silent_.insert(engine).second : silent_.erase(engine) > 0;
  if (!changed) return;
  out.gauge("troupe_prefix_reports_missing", static_cast<double>(silent_.size()));
}

void PrefillBalancerCore::on(const Down& down, Context& context, Effects& out) {
  const auto rank = ranks_.find(down.ref);
  if (rank != ranks_.end()) {
    const ActorRef engine = rank->second;
    return end_engine(engine, "a rank of it is down", context, out);
  }
  for (const RequestId request : owners_.requests_of(down.ref)) end_job(request, context, out);
}

void PrefillBalancerCore::on(const Undeliverable&, Context&, Effects&) {
  // Owners are watched: their Down, not a lost answer, ends their work.
}

void PrefillBalancerCore::on(const Drain&, Context&, Effects& out) {
  draining_ = true;
  if (owners_.size() == 0) out.stop("drained");
}

void PrefillBalancerCore::run_deadlines(Context& context, Effects& out) {
  const auto first = [this] {
    return deadlines_.first([this](const auto& entry) { return holds(entry); });
  };
  for (auto next = first(); next && next->first <= context.now; next = first()) {
    const RequestId request = next->second;
    refuse(*owners_.owner_of(request), request,
           {Code::kDeadline, "no prefill engine had time for the request"}, out);
    end_job(request, context, out);
  }
  watch_deadlines(out);
}

void PrefillBalancerCore::watch_deadlines(Effects& out) {
  // A timer that comes too early finds nothing and is set again: cheaper than one a request.
  const auto next = deadlines_.first([this](const auto& entry) { return holds(entry); });
  if (!next || (armed_ && *armed_ <= next->first)) return;
  armed_ = next->first;
  out.timer({kDeadlineTimer, 0}, *armed_);
}

std::string PrefillBalancerCore::describe() const {
  return "engines=" + std::to_string(engines_.size()) +
         " waiting=" + std::to_string(policy_->waiting()) +
         " jobs=" + std::to_string(pool_->jobs());
}

}  // namespace troupe
