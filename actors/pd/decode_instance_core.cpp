#include "actors/pd/decode_instance_core.hpp"

#include <algorithm>

#include "actors/balance/rows_by_owner.hpp"
#include "actors/pd/token_batches.hpp"

namespace troupe {

namespace {
constexpr OpId kDecodeStep{1};
constexpr TimerTag kDecodeJoin{1, 0};

DraftBudget::Options with_rows(DraftBudget::Options options, std::uint32_t rows) {
  options.rows_most = rows;
  return options;
}
}  // namespace

DecodeInstanceCore::DecodeInstanceCore(const Args& args)
    : args_(args),
      budget_(with_rows(args.drafts, args.rows_most)),
      rows_(args.members),
      next_(std::make_shared<GroupPlan>()) {
  next_->reset = true;
  use_.members = args.members;
}

void DecodeInstanceCore::on(const Started&, Context& context, Effects& out) {
  join(context, out);
}

void DecodeInstanceCore::on(const TimerFired&, Context& context, Effects& out) {
  if (!known_) join(context, out);
}

void DecodeInstanceCore::join(Context& context, Effects& out) {
  DecodeInstanceJoined joined;
  joined.instance = context.self;
  joined.ranks.assign(args_.members, {context.self, args_.blocks, args_.rows_most});
  out.send(args_.balancer, make_message<DecodeInstanceJoined>(std::move(joined)));
  out.timer(kDecodeJoin, context.now + kJoinAgain);
}

void DecodeInstanceCore::on(const StartDecode& start, Context& context, Effects& out) {
  known_ = true;
  if (jobs_.contains(start.request.value)) leave(start.request);  // its stop was lost
  if (start.member >= args_.members || rows_[start.member] >= args_.rows_most) {
    return out.send(context.from, make_message<DecodeRefused>(start.request));
  }
  const std::uint32_t told = listeners(context.from, start.streams, out);
  ++listeners_[told].rows;
  jobs_.insert(start.request.value, Job{told, start.member, start.generated});
  ++rows_[start.member];
  next_->enters.push_back(
      {start.member, start.request, start.context, start.generated, start.sealed.work});
  started_.rows.push_back({start.request, start.generation});
  launch(context, out);
}

std::uint32_t DecodeInstanceCore::listeners(const ActorRef& route, const ActorRef& streams,
                                            Effects& out) {
  auto at = std::find_if(listeners_.begin(), listeners_.end(), [&](const Listeners& one) {
    return one.route == route && one.streams == streams;
  });
  if (at == listeners_.end()) {
    at = std::find_if(listeners_.begin(), listeners_.end(),
                      [](const Listeners& one) { return one.rows == 0; });
    if (at == listeners_.end()) at = listeners_.insert(at, Listeners{});
    *at = {route, streams};
    out.watch(route);
  }
  return static_cast<std::uint32_t>(at - listeners_.begin());
}

void DecodeInstanceCore::on(const StopDecode& stop, Context& context, Effects& out) {
  if (jobs_.contains(stop.request.value)) leave(stop.request);
  out.send(context.from, make_message<GroupStopped>(stop.request));
}

void DecodeInstanceCore::on(const AskGroup& ask, Context& context, Effects& out) {
  const bool here = jobs_.contains(ask.request.value);
  out.send(context.from, make_message<GroupHas>(ask.request, here));
}

void DecodeInstanceCore::on(const Down& down, Context&, Effects&) {
  std::vector<RequestId> gone;
  jobs_.for_each([&](std::uint64_t request, const Job& job) {
    if (listeners_[job.listeners].route == down.ref) gone.emplace_back(request);
  });
  std::sort(gone.begin(), gone.end());
  for (const RequestId request : gone) leave(request);
  // Should it come again (its node was only cut off), it is watched anew.
  for (Listeners& one : listeners_) {
    if (one.route == down.ref) one = {};
  }
}

void DecodeInstanceCore::leave(RequestId request) {
  // It may not have entered yet: then it never does.
  const auto entered = std::erase_if(
      next_->enters, [&](const GroupEntry& entry) { return entry.request == request; });
  std::erase_if(started_.rows, [&](const StartedRow& row) { return row.request == request; });
  if (entered == 0) {
    next_->leaves.push_back({jobs_.at(request.value).member, request});
    replaced_.push_back(request);
  }
  drop(request);
}

void DecodeInstanceCore::drop(RequestId request) {
  const Job& job = jobs_.at(request.value);
  --rows_[job.member];
  --listeners_[job.listeners].rows;
  jobs_.erase(request.value);
}

void DecodeInstanceCore::launch(Context& context, Effects& out) {
  if (running_ || jobs_.size() == 0) return;
  running_ = true;
  if (!started_.rows.empty()) {
    out.send(args_.balancer, make_message<DecodeStarted>(std::exchange(started_, {})));
  }
  next_->drafts.resize(args_.members);
  for (std::uint32_t i = 0; i < args_.members; ++i) next_->drafts[i] = budget_.drafts(rows_[i]);
  auto step = std::make_shared<StepPlan>();
  step->step = ++steps_;
  step->group = std::exchange(next_, std::make_shared<GroupPlan>());
  stepping_ = jobs_.size();
  replaced_.clear();
  out.launch({kDecodeStep,
              args_.stream,
              LaunchKind::kForward,
              0,
              std::move(step),
              {},
              context.now + kStepMost});
}

void DecodeInstanceCore::on(const Done<StepResult>& done, Context& context, Effects& out) {
  if (done.failed) return out.fail("a step failed: " + done.error.message);
  running_ = false;
  const GroupResult& result = *done.output.group.result;
  use_.add(result, done.output.device_time.seconds(), static_cast<double>(stepping_));
  TokenBatches batches;
  RowsByOwner<DecodeEnded> told;
  for (const GroupEnd& end : result.ended) {
    const Job* const job = jobs_.find(end.request.value);
    // It left while the step ran. The device has forgotten it: the notice finds nothing.
    if (job == nullptr) continue;
    if (std::find(replaced_.begin(), replaced_.end(), end.request) != replaced_.end()) continue;
    const Listeners& those = listeners_[job->listeners];
    batches.add(those.streams, those.route, end.request, job->generated, end.tokens, true);
    told.of(those.route).rows.push_back({end.request, job->generated + end.tokens});
    drop(end.request);
  }
  batches.hand_out(steps_, out);
  told.hand_out(out);
  launch(context, out);
}

void DecodeInstanceCore::fetch_ahead(const Done<StepResult>& done) const {
  if (done.failed) return;
  const GroupResult& result = *done.output.group.result;
  fetch_lines(result.own.data(), result.own.size() * sizeof(Duration));
  fetch_lines(rows_.data(), rows_.size() * sizeof(rows_[0]));
  for (const GroupEnd& end : result.ended) jobs_.fetch(end.request.value);
}

std::string DecodeInstanceCore::describe() const {
  return "rows=" + std::to_string(jobs_.size()) + " steps=" + std::to_string(steps_);
}

}  // namespace troupe
