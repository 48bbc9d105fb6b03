// What a flow does when nobody answers, and how it begins anew.
#include "actors/pd/route_core.hpp"

namespace troupe {

namespace {
constexpr TimerTag kLookTimer{1, 0};
/// A request's own deadline comes first: this is for a request that does not act on it.
constexpr Duration kLate = seconds(2);
}  // namespace

void RouteCore::enter(Flow& flow, State state, Time now) {
  flow.state = state;
  flow.since = now;
  flow.asked = 0;
}

void RouteCore::watch_silence(Context& context, Effects& out) {
  if (looking_ || (flows_.empty() && stops_.empty())) return;
  looking_ = true;
  out.timer(kLookTimer, context.now + kLook);
}

void RouteCore::on(const TimerFired&, Context& context, Effects& out) {
  looking_ = false;
  repeat_stops(out);
  look(context, out);
  watch_silence(context, out);
}

void RouteCore::look(Context& context, Effects& out) {
  std::vector<RequestId> silent;
  for (const auto& [request, flow] : flows_) {
    // Flows stand by their ids, nearly as they were born: what is younger by some milliseconds of
    // the recipe's work may hide an older one until the next look.
    if (context.now - flow.born < kSilent) break;
    if (context.now - flow.since >= kSilent) silent.push_back(request);
  }
  for (const RequestId request : silent) look_after(*find(request), context, out);
}

void RouteCore::look_after(Flow& flow, Context& context, Effects& out) {
  if (context.now >= flow.deadline + kLate) {
    return fail(flow, Code::kDeadline, "the cluster did not finish it in time", context, out);
  }
  switch (flow.state) {
    case State::kQueued:
    case State::kFetching:
    case State::kPushing:
      return;  // balancers and fabric are this node's: nothing of theirs is lost
    case State::kEncoding:
      return look_after_images(flow, context, out);
    case State::kPlacing:
      // The engine's question may have been lost; the balancer takes a second one for the first.
      flow.since = context.now;
      return ask_for_place(flow, context, out);
    case State::kPrefilling:
    case State::kDecoding:
      break;
  }
  if (flow.asked >= kAsksMost) return begin_anew(flow, "its group is silent", context, out);
  ++flow.asked;
  const Place& place = flow.state == State::kDecoding ? flow.place : flow.engine;
  out.send(place.group, make_message<AskGroup>(flow.request));
}

void RouteCore::ask_for_place(const Flow& flow, Context& context, Effects& out) {
  WantedPlace row;
  row.request = flow.request;
  row.context = flow.length;
  row.output_most = flow.output_most;
  row.time_left = flow.deadline - context.now;
  out.send(args_.wiring->decode_balancer,
           make_message<ReserveDecode>(context.self, std::vector{row}));
}

void RouteCore::on(const GroupHas& has, Context& context, Effects& out) {
  Flow* flow = find(has.request);
  if (flow == nullptr || flow->asked == 0) return;
  const bool decoding = flow->state == State::kDecoding;
  const Place& place = decoding ? flow->place : flow->engine;
  if (context.from != place.group) return;
  if (!has.here) {
    return begin_anew(*flow, "a message between it and its group was lost", context, out);
  }
  flow->asked = 0;
  flow->since = context.now;
}

void RouteCore::on(const DecodeRefused& refused, Context& context, Effects& out) {
  Flow* flow = find(refused.request);
  if (flow == nullptr || flow->state != State::kDecoding) return;
  if (context.from != flow->place.group) return;
  begin_anew(*flow, "its decode GPU was full", context, out);
}

void RouteCore::stop_group(Flow& flow, Context& context, Effects& out) {
  const bool decoding = flow.state == State::kDecoding;
  if (!decoding && flow.state != State::kPrefilling) return;
  const ActorRef& group = decoding ? flow.place.group : flow.engine.group;
  const Pool pool = decoding ? Pool::kDecode : Pool::kPrefill;
  forget_stop(flow.request, pool);
  stops_.insert(flow.request.value << 1 | static_cast<std::uint64_t>(pool), Stop{group, 1});
  if (decoding) {
    out.send(group, make_message<StopDecode>(flow.request));
  } else {
    out.send(group, make_message<StopPrefill>(flow.request));
  }
  watch_silence(context, out);
}

void RouteCore::repeat_stops(Effects& out) {
  std::vector<std::uint64_t> given_up;
  for (auto& [key, stop] : stops_) {
    if (++stop.sent > kStopsMost) {
      given_up.push_back(key);
      continue;
    }
    const RequestId request(key >> 1);
    if ((key & 1) == static_cast<std::uint64_t>(Pool::kDecode)) {
      out.send(stop.group, make_message<StopDecode>(request));
    } else {
      out.send(stop.group, make_message<StopPrefill>(request));
    }
  }
  for (const std::uint64_t key : given_up) stops_.erase(key);
}

void RouteCore::forget_stop(RequestId request, Pool pool) {
  const std::uint64_t key = request.value << 1 | static_cast<std::uint64_t>(pool);
  if (!stops_.empty() && stops_.contains(key)) stops_.erase(key);
}

void RouteCore::on(const GroupStopped& stopped, Context& context, Effects&) {
  for (const Pool pool : {Pool::kPrefill, Pool::kDecode}) {
    const std::uint64_t key = stopped.request.value << 1 | static_cast<std::uint64_t>(pool);
    const Stop* const stop = stops_.find(key);
    if (stop != nullptr && stop->group == context.from) stops_.erase(key);
  }
}

void RouteCore::begin_anew(Flow& flow, const char* why, Context& context, Effects& out) {
  stop_move(flow, out);
  if (++flow.reroutes > kReroutesMost) {
    return fail(flow, Code::kLost, std::string(why) + ", and it was routed anew before", context,
                out);
  }
  out.count("troupe_requests_rerouted_total");
  stop_group(flow, context, out);
  // What the balancers have of it, or will be asked for, is given back: it is submitted afresh.
  if (flow.state == State::kPrefilling || flow.state == State::kEncoding) {
    release_prefill(flow.request, out);
  }
  release_decode(flow.request, out);
  if (flow.has_images) abandon_images(flow, context, out);
  flow.place = {};
  flow.engine = {};
  submit(flow, context, out);
}

}  // namespace troupe
