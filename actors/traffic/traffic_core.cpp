// When requests start: warm-up, closed loop, open loop, and the end of the run.
#include "actors/traffic/traffic_core.hpp"

#include <algorithm>

namespace troupe {

namespace {
constexpr Duration kProgressEvery = seconds(1);
}  // namespace

TrafficCore::TrafficCore(const Args& args)
    : args_(args),
      arrivals_(args.plan),
      prompt_rng_(mix64(args.plan.seed, 5)),
      report_(args.plan),
      target_(args.target) {
  TROUPE_ASSERT(check_plan(args.plan).ok(), "the plan was checked where it came in");
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
  if (args_.plan.request_rate > 0) {
    next_arrival_ = context.now + arrivals_.next_gap();
    out.timer({kArrival, 0}, next_arrival_);
  }
}

void TrafficCore::proceed(Context& context, Effects& out) {
  if (phase_ == Phase::kWarmup) {
    fill_warmup(context, out);
    if (warmups_started_ == args_.plan.warmup && exchanges_.empty()) begin_measuring(context, out);
  }
  if (phase_ != Phase::kMeasuring) return;
  if (args_.plan.request_rate > 0) {
    fill_from_backlog(context, out);
  } else {
    fill_closed_loop(context, out);
  }
  if (over(context.now)) finish(out);
}

bool TrafficCore::has_room() const {
  return args_.plan.concurrency == 0 || exchanges_.size() < args_.plan.concurrency;
}

bool TrafficCore::may_start(Time at) const {
  const TrafficPlan& plan = args_.plan;
  if (plan.num_requests > 0 && started_ >= plan.num_requests) return false;
  return plan.duration.value <= 0 || at < measuring_since_ + plan.duration;
}

void TrafficCore::fill_warmup(Context& context, Effects& out) {
  const std::size_t room = std::max(1u, args_.plan.concurrency);
  while (target_ && warmups_started_ < args_.plan.warmup && exchanges_.size() < room) {
    ++warmups_started_;
    start(context.now, false, context, out);
  }
}

void TrafficCore::fill_closed_loop(Context& context, Effects& out) {
  // Without a gateway a closed loop waits for its next life: whoever waits for an answer before
  // asking again does not hammer a closed door.
  while (target_ && has_room() && may_start(context.now)) {
    ++started_;
    start(context.now, true, context, out);
  }
}

void TrafficCore::take_arrivals(Context& context, Effects& out) {
  while (next_arrival_ <= context.now && may_start(next_arrival_)) {
    ++started_;
    if (has_room()) {
      start(next_arrival_, true, context, out);
    } else if (backlog_.size() < kBacklogMax) {
      backlog_.push_back(next_arrival_);
    } else {
      ExchangeRecord lost;
      lost.outcome = Outcome::kFailed;
      lost.error = "the generator's backlog is full";
      lost.ended = context.now;
      report_.record(lost);
    }
    next_arrival_ = next_arrival_ + arrivals_.next_gap();
  }
  if (may_start(next_arrival_)) out.timer({kArrival, 0}, next_arrival_);
}

void TrafficCore::fill_from_backlog(Context& context, Effects& out) {
  while (!backlog_.empty() && has_room()) {
    const Time intended = backlog_.front();
    backlog_.pop_front();
    start(intended, true, context, out);
  }
}

bool TrafficCore::over(Time now) const {
  if (!exchanges_.empty() || !backlog_.empty()) return false;
  return !may_start(args_.plan.request_rate > 0 ? next_arrival_ : now);
}

void TrafficCore::start(Time intended, bool measured, Context& context, Effects& out) {
  const std::uint64_t number = ++next_exchange_;
  Exchange& exchange = exchanges_[number];
  exchange.draw = arrivals_.next_draw();
  exchange.measured = measured;
  exchange.target = target_;
  exchange.reads = !exchange.draw.slow_reader;
  exchange.record.prompt_tokens = exchange.draw.prompt_tokens;
  exchange.record.intended = intended;
  exchange.record.sent = context.now;
  if (args_.prompts->answers_are_events()) exchange.counter = std::make_unique<ChunkCounter>();
  if (measured) report_.started(intended, context.now, live());
  if (!target_) {
    return conclude(number, Outcome::kFailed, "there is no gateway", context, out);
  }
  HttpArrived arrived;
  arrived.exchange = number;
  arrived.session = context.self;
  arrived.arrived = context.now;
  args_.prompts->fill(arrived, exchange.draw, prompt_rng_);
  out.send(target_, make_message<HttpArrived>(std::move(arrived)));
  if (exchange.draw.cancel_after) {
    out.timer({kCancel, number}, context.now + *exchange.draw.cancel_after);
  }
  if (args_.plan.timeout.value > 0) {
    out.timer({kTimeout, number}, context.now + args_.plan.timeout);
  }
  if (!exchange.reads) {
    out.timer({kReader, number}, context.now + args_.plan.slow_reader_starts);
  }
}

void TrafficCore::finish(Effects& out) {
  phase_ = Phase::kEnded;
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
      take_arrivals(context, out);
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
  backlog_.clear();
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
         " backlog=" + std::to_string(backlog_.size());
}

}  // namespace troupe
