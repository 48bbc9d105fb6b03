// When requests start: warm-up, closed loop, open loop, and the end of the run.
#include "actors/traffic/traffic_core.hpp"

#include <algorithm>

#include "actors/load/synthetic_source.hpp"

namespace troupe {

namespace {
constexpr Duration kProgressEvery = seconds(1);

LoadPlan warmup_plan(const TrafficPlan& plan) {
  LoadPlan warmup = plan;
  warmup.trace = {};
  warmup.request_rate = 0;
  warmup.phases.clear();
  warmup.turns = 1;
  warmup.cancel_rate = warmup.slow_readers = 0;
  warmup.seed = mix64(plan.seed, 6);
  return warmup;
}
}  // namespace

TrafficCore::TrafficCore(const Args& args)
    : args_(args), source_(args.source), report_(args.plan), target_(args.target) {
  TROUPE_ASSERT(check_plan(args.plan).ok(), "the plan was checked where it came in");
  if (!source_) {
    TROUPE_ASSERT(args.plan.trace.file.empty(), "a trace is opened by whoever starts the load");
    source_ = std::make_shared<SyntheticSource>(args.plan);
  }
  warmup_source_ = std::make_unique<SyntheticSource>(warmup_plan(args.plan));
  // A trace without times is played by one user, unless it is said how many there are.
  if (!source_->timed() && args_.plan.concurrency == 0) args_.plan.concurrency = 1;
}

void TrafficCore::on(const Started&, Context& context, Effects& out) {
  if (!target_) return;
  out.watch(target_);
  approach(context, out);
}

void TrafficCore::on(const GatewayStarted& told, Context& context, Effects& out) {
  if (told.gateway == target_) return;
  target_ = told.gateway;
  out.watch(target_);
  if (phase_ == Phase::kWaiting) return approach(context, out);
  proceed(context, out);
}

void TrafficCore::approach(Context& context, Effects& out) {
  if (args_.start_after.value > 0) return out.timer({kStart, 0}, context.now + args_.start_after);
  begin(context, out);
}

void TrafficCore::begin(Context& context, Effects& out) {
  phase_ = Phase::kWarmup;
  if (args_.observer) out.timer({kProgress, 0}, context.now + kProgressEvery);
  proceed(context, out);
}

void TrafficCore::begin_measuring(Context& context, Effects& out) {
  phase_ = Phase::kMeasuring;
  measuring_since_ = context.now;
  report_.begin(context.now);
  if (args_.plan.duration.value > 0) {
    out.timer({kDurationOver, 0}, context.now + args_.plan.duration);
  }
  pull();
}

void TrafficCore::proceed(Context& context, Effects& out) {
  if (phase_ == Phase::kWarmup) {
    fill_warmup(context, out);
    if (warmups_started_ == args_.plan.warmup && exchanges_.empty()) begin_measuring(context, out);
  }
  if (phase_ != Phase::kMeasuring) return;
  fill(context, out);
  if (over(context.now)) finish(out);
}

bool TrafficCore::has_room() const {
  return args_.plan.concurrency == 0 || exchanges_.size() < args_.plan.concurrency;
}

bool TrafficCore::has_user() const {
  // In a closed loop a user who thinks is not free for another session.
  return has_room() &&
         (source_->timed() || exchanges_.size() + turns_.size() < args_.plan.concurrency);
}

bool TrafficCore::may_start(Time at) const {
  const TrafficPlan& plan = args_.plan;
  if (plan.num_requests > 0 && started_ >= plan.num_requests) return false;
  return plan.duration.value <= 0 || at < measuring_since_ + plan.duration;
}

void TrafficCore::pull() {
  auto next = source_->next();
  if (next.ok()) {
    coming_ = std::move(next).value();
  } else {
    coming_.reset();
    report_.break_off(next.error());
  }
}

Time TrafficCore::coming_at(Time now) const {
  return source_->timed() ? measuring_since_ + coming_->at : now;
}

void TrafficCore::fill_warmup(Context& context, Effects& out) {
  const std::size_t room = std::max(1u, args_.plan.concurrency);
  while (target_ && warmups_started_ < args_.plan.warmup && exchanges_.size() < room) {
    ++warmups_started_;
    auto drawn = warmup_source_->next();
    TROUPE_ASSERT(drawn.ok() && drawn->has_value(), "a load without a rate has no end");
    start(Ask{std::move(**drawn), {}}, context.now, false, context, out);
  }
}

void TrafficCore::fill(Context& context, Effects& out) {
  while (start_due(context, out)) {
  }
  arm(context, out);
}

bool TrafficCore::start_due(Context& context, Effects& out) {
  // Without a gateway a closed loop waits for its next life: whoever waits for an answer before
  // asking again does not hammer a closed door.
  if (!target_ && !source_->timed()) return false;
  const Time now = context.now;
  const bool turn = !turns_.empty() && turns_.begin()->first <= now && has_room() &&
                    may_start(turns_.begin()->first);
  const bool fresh = coming_ && coming_at(now) <= now && has_user() && may_start(coming_at(now));
  if (!turn && !fresh) return false;
  ++started_;
  if (turn && (!fresh || turns_.begin()->first <= coming_at(now))) {
    auto due = turns_.extract(turns_.begin());
    start(std::move(due.mapped()), due.key(), true, context, out);
    return true;
  }
  const Time intended = coming_at(now);
  Ask ask{std::move(*coming_), {}};
  pull();
  start(std::move(ask), intended, true, context, out);
  return true;
}

void TrafficCore::arm(Context& context, Effects& out) {
  std::optional<Time> next;
  const bool waits = coming_ && source_->timed() && has_room() && may_start(coming_at(context.now));
  if (waits) next = coming_at(context.now);
  if (!turns_.empty() && has_room() && may_start(turns_.begin()->first)) {
    next = std::min(turns_.begin()->first, next.value_or(turns_.begin()->first));
  }
  // What is due already waits for something else than time.
  if (next && *next <= context.now) next.reset();
  if (next == armed_) return;
  armed_ = next;
  if (next) {
    out.timer({kArrival, 0}, *next);
  } else {
    out.cancel_timer({kArrival, 0});
  }
}

bool TrafficCore::over(Time now) const {
  if (!exchanges_.empty()) return false;
  if (!turns_.empty() && may_start(turns_.begin()->first)) return false;
  return !coming_ || !may_start(coming_at(now));
}

void TrafficCore::start(Ask ask, Time intended, bool measured, Context& context, Effects& out) {
  const std::uint64_t number = ++next_exchange_;
  Exchange& exchange = exchanges_[number];
  exchange.ask = std::move(ask);
  const PlannedRequest& planned = exchange.ask.planned;
  exchange.measured = measured;
  exchange.target = target_;
  exchange.reads = !planned.slow_reader;
  exchange.record.prompt_tokens = static_cast<std::uint32_t>(args_.prompts->tokens(planned));
  exchange.record.intended = intended;
  exchange.record.sent = context.now;
  if (args_.prompts->answers_are_events()) {
    exchange.counter = std::make_unique<ChunkCounter>(!planned.last_turn);
  }
  if (measured) report_.started(intended, context.now, live());
  if (!target_) {
    return conclude(number, Outcome::kFailed, "there is no gateway", context, out);
  }
  HttpArrived arrived;
  arrived.exchange = number;
  arrived.session = context.self;
  arrived.arrived = context.now;
  args_.prompts->fill(arrived, planned, exchange.ask.answers);
  out.send(target_, make_message<HttpArrived>(std::move(arrived)));
  if (planned.cancel_after) out.timer({kCancel, number}, context.now + *planned.cancel_after);
  if (args_.plan.timeout.value > 0) {
    out.timer({kTimeout, number}, context.now + args_.plan.timeout);
  }
  if (!exchange.reads) {
    out.timer({kReader, number}, context.now + args_.plan.slow_reader_starts);
  }
}

void TrafficCore::finish(Effects& out) {
  phase_ = Phase::kEnded;
  turns_.clear();
  report_.add_note(source_->note());
  out.cancel_timer({kArrival, 0});
  out.cancel_timer({kProgress, 0});
  out.cancel_timer({kDurationOver, 0});
  out.send(args_.observer, make_message<TrafficEnded>(
                               SharedReport{std::make_shared<const TrafficReport>(report_)}));
}

void TrafficCore::report_progress(Context& context, Effects& out) {
  const std::uint64_t bad = report_.count(Outcome::kFailed) + report_.count(Outcome::kNoToken) +
                            report_.count(Outcome::kTimedOut);
  out.send(args_.observer,
           make_message<TrafficProgress>(started_, report_.total(), bad,
                                         report_.count(Outcome::kCancelled), live()));
  out.timer({kProgress, 0}, context.now + kProgressEvery);
}

void TrafficCore::on(const TimerFired& fired, Context& context, Effects& out) {
  switch (fired.tag.kind) {
    case kArrival:
      armed_.reset();
      break;
    case kCancel:
      leave(fired.tag.key, Outcome::kCancelled, "", context, out);
      break;
    case kTimeout:
      leave(fired.tag.key, Outcome::kTimedOut, "the client's patience ended", context, out);
      break;
    case kReader:
      if (Exchange* exchange = find(fired.tag.key)) {
        exchange->reads = true;
        tell_drained(fired.tag.key, *exchange, out);
      }
      return;
    case kStart:
      return begin(context, out);
    case kDurationOver:
      break;
    case kProgress:
      return report_progress(context, out);
    default:
      TROUPE_ASSERT(false, "a timer of ours has one of our kinds");
  }
  proceed(context, out);
}

void TrafficCore::on(const Drain&, Context& context, Effects& out) {
  coming_.reset();
  turns_.clear();
  while (!exchanges_.empty()) {
    leave(exchanges_.begin()->first, Outcome::kCancelled, "", context, out);
  }
  if (phase_ != Phase::kEnded) finish(out);
  out.stop("drained");
}

std::optional<Time> TrafficCore::oldest_start() const {
  if (exchanges_.empty()) return std::nullopt;
  return exchanges_.begin()->second.record.sent;
}

const char* TrafficCore::phase() const {
  switch (phase_) {
    case Phase::kWaiting:
      return "waiting";
    case Phase::kWarmup:
      return "warming up";
    case Phase::kMeasuring:
      return "measuring";
    case Phase::kEnded:
      return "ended";
  }
  return "unknown";
}

std::string TrafficCore::describe() const {
  return "started=" + std::to_string(started_) + " live=" + std::to_string(live()) +
         " ok=" + std::to_string(report_.count(Outcome::kOk)) +
         " turns=" + std::to_string(turns_.size());
}

}  // namespace troupe
