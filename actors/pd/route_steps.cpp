// A flow's way, from the prefill balancer to the end of its answer.
#include <algorithm>

#include "actors/pd/route_core.hpp"

namespace troupe {

namespace {
/// Prompts without a session that begin alike go to one engine, where policies do that: by their
/// first 2,048 tokens (KVROUTER.md).
constexpr std::size_t kAffinityBlocks = 16;
}  // namespace

void RouteCore::submit(Flow& flow, Context& context, Effects& out) {
  enter(flow, State::kQueued, context.now);
  SubmitPrefill submit;
  submit.request = flow.request;
  submit.owner = context.self;
  submit.length = flow.length;
  submit.hit = flow.hit;
  const std::span<const std::uint64_t> chain = flow.sealed.work.chain();
  submit.affinity = flow.sealed.work.session;
  const std::size_t first = std::min(chain.size(), kAffinityBlocks);
  if (submit.affinity == 0 && first > 0) submit.affinity = chain[first - 1];
  if (args_.wiring->own_caches) submit.chain.assign(chain.begin(), chain.end());
  submit.time_left = flow.deadline - context.now;
  out.send(args_.wiring->prefill_balancer, make_message<SubmitPrefill>(std::move(submit)));
}

void RouteCore::on(const PrefillAssigned& assigned, Context& context, Effects& out) {
  Flow* flow = find(assigned.request);
  if (flow == nullptr) return;
  // A newer generation: the engine of the older one is gone, with all that it had of this request.
  const bool computing = flow->state <= State::kPrefilling;
  if (!computing || assigned.generation <= flow->engine.generation) return;
  stop_move(*flow, out);
  if (flow->engine.generation > 0) {
    // The lost engine may have asked for a place; the new one asks again.
    release_decode(flow->request, out);
    flow->place = {};
  }
  flow->engine = {assigned.engine, assigned.member, assigned.generation};
  flow->hit = assigned.hit;
  if (args_.wiring->own_caches) prefixes_.found(flow->hit);
  if (flow->has_images) encode_images(*flow, context, out);
  if (flow->hit == 0 || args_.wiring->own_caches) return start_prefill(*flow, context, out);
  enter(*flow, State::kFetching, context.now);
  const KvSizes& kv = args_.wiring->kv;
  const PortId port = port_of(flow->engine);
  move(*flow, MoveKind::kFetch, port, port, flow->hit * kv.token_bytes + kv.window_bytes, out);
}

void RouteCore::start_prefill(Flow& flow, Context& context, Effects& out) {
  if (flow.has_images && images_.waits(flow.request)) {
    return enter(flow, State::kEncoding, context.now);
  }
  enter(flow, State::kPrefilling, context.now);
  forget_stop(flow.request, Pool::kPrefill);
  StartPrefill start;
  start.request = flow.request;
  start.member = flow.engine.member;
  start.generation = flow.engine.generation;
  start.hit = flow.hit;
  start.length = flow.length;
  start.output_most = flow.output_most;
  start.time_left = flow.deadline - context.now;
  if (!flow.first_token) start.streams = flow.streams;
  start.sealed = flow.sealed;
  out.send(flow.engine.group, make_message<StartPrefill>(std::move(start)));
}

void RouteCore::on(const BytesMoved& moved, Context& context, Effects& out) {
  Flow* flow = find(request_of(moved.move));
  if (flow == nullptr || moved.move != flow->move) return;  // it was stopped
  flow->move = 0;
  if (flow->state == State::kFetching) return start_prefill(*flow, context, out);
  if (flow->state == State::kPushing) start_decode(*flow, context, out);
}

void RouteCore::on(const PrefillEnded& ended, Context& context, Effects& out) {
  // The balancer knows it from the engine, unless that message was lost.
  ReleasePrefill release;
  for (const EndedPrompt& row : ended.rows) {
    Flow* flow = find(row.request);
    if (flow == nullptr || flow->state != State::kPrefilling) continue;
    if (context.from != flow->engine.group) continue;  // late word of one that was given up
    release.requests.push_back(flow->request);
    prompt_ended(*flow, row.complete, context, out);
  }
  if (release.requests.empty()) return;
  out.watch(context.from);
  out.send(args_.wiring->prefill_balancer, make_message<ReleasePrefill>(std::move(release)));
}

void RouteCore::prompt_ended(Flow& flow, bool complete, Context& context, Effects& out) {
  prefixes_.computed(flow.sealed.work, flow.length, context.now);
  flow.first_token = true;
  if (complete) {
    release_decode(flow.request, out, 1);
    return forget(flow, out);
  }
  enter(flow, State::kPlacing, context.now);
  if (flow.place.group) push(flow, context.now, out);
}

void RouteCore::on(const DecodeReserved& reserved, Context& context, Effects& out) {
  for (const ReservedPlace& place : reserved.rows) take_place(place, context, out);
}

void RouteCore::take_place(const ReservedPlace& reserved, Context& context, Effects& out) {
  Flow* flow = find(reserved.request);
  // It ended while the engine asked in its name.
  if (flow == nullptr) return release_decode(reserved.request, out);
  // Of an engine that was given up; a flow that waits for another owns no place.
  if (flow->state < State::kPrefilling) return release_decode(reserved.request, out);
  flow->place = {reserved.rank, reserved.member, reserved.generation};
  // While it seems to decode: the instance went before it could start there.
  if (flow->state == State::kPlacing || flow->state == State::kPushing ||
      flow->state == State::kDecoding) {
    push(*flow, context.now, out);
  }
}

void RouteCore::push(Flow& flow, Time now, Effects& out) {
  stop_move(flow, out);
  enter(flow, State::kPushing, now);
  const KvSizes& kv = args_.wiring->kv;
  move(flow, MoveKind::kPush, port_of(flow.engine), port_of(flow.place),
       flow.length * kv.token_bytes + 2 * kv.window_bytes, out);
}

void RouteCore::start_decode(Flow& flow, Context& context, Effects& out) {
  enter(flow, State::kDecoding, context.now);
  forget_stop(flow.request, Pool::kDecode);
  StartDecode start;
  start.request = flow.request;
  start.member = flow.place.member;
  start.generation = flow.place.generation;
  start.context = flow.length + 1;
  start.generated = 1;
  start.streams = flow.streams;
  start.sealed = flow.sealed;
  out.send(flow.place.group, make_message<StartDecode>(std::move(start)));
}

void RouteCore::on(const DecodeEnded& ended, Context& context, Effects& out) {
  ReleaseDecode release;
  for (const EndedAnswer& row : ended.rows) {
    Flow* flow = find(row.request);
    if (flow == nullptr || flow->state != State::kDecoding) continue;
    if (context.from != flow->place.group) continue;  // late word of one that was given up
    by_owner_.fetch_place(flow->owner);
    release.rows.push_back({row.request, row.output});
    prefixes_.answered(flow->sealed.work, context.now);
    const std::uint64_t computed = flow->length - flow->hit + row.output;
    const PortId port = port_of(flow->place);
    out.send(args_.wiring->fabric,
             make_message<MoveBytes>(std::uint64_t{0}, MoveKind::kWrite, port, port,
                                     computed * args_.wiring->kv.token_bytes));
    forget(*flow, out);
  }
  if (release.rows.empty()) return;
  out.send(args_.wiring->decode_balancer, make_message<ReleaseDecode>(std::move(release)));
}

void RouteCore::release_prefill(RequestId request, Effects& out) {
  out.send(args_.wiring->prefill_balancer, make_message<ReleasePrefill>(std::vector{request}));
}

void RouteCore::release_decode(RequestId request, Effects& out, std::uint32_t output) {
  out.send(args_.wiring->decode_balancer,
           make_message<ReleaseDecode>(std::vector{ReleasedRow{request, output}}));
}

void RouteCore::move(Flow& flow, MoveKind kind, PortId from, PortId to, std::uint64_t bytes,
                     Effects& out) {
  ++flow.moves;
  TROUPE_ASSERT(flow.moves < 1u << (kMovesBits - 1), "a flow moves its KV a few times");
  flow.move = flow.request.value << kMovesBits | flow.moves;
  out.send(args_.wiring->fabric, make_message<MoveBytes>(flow.move, kind, from, to, bytes));
}

void RouteCore::stop_move(Flow& flow, Effects& out) {
  if (flow.move == 0) return;
  out.send(args_.wiring->fabric, make_message<StopMove>(flow.move));
  flow.move = 0;
}

void RouteCore::on(const PrefillRefused& refused, Context& context, Effects& out) {
  if (Flow* flow = find(refused.request)) fail(*flow, refused.code, refused.message, context, out);
}

void RouteCore::on(const DecodeNotReserved& refused, Context& context, Effects& out) {
  Flow* flow = find(refused.request);
  if (flow == nullptr || flow->state < State::kPrefilling) return;
  fail(*flow, refused.code, refused.message, context, out);
}

void RouteCore::on(const DecodeReservationLost& lost, Context& context, Effects& out) {
  Flow* flow = find(lost.request);
  if (flow == nullptr) return;
  if (lost.code == Code::kLost) {
    if (flow->state == State::kDecoding) {
      return begin_anew(*flow, "its decode instance is gone", context, out);
    }
    flow->place = {};
    return;
  }
  // Nobody told the balancer of a start: that message was lost, or the start itself.
  if (flow->state == State::kDecoding) {
    return begin_anew(*flow, "its decode instance did not start it", context, out);
  }
  flow->place = {};
  // While the prompt waits to be computed anew, its last chunk asks again.
  if (flow->state < State::kPrefilling) return;
  if (flow->state == State::kPushing) {
    if (++flow->reroutes > kReroutesMost) {
      return fail(*flow, lost.code, "the reservation on a decode GPU ran out", context, out);
    }
    stop_move(*flow, out);
    enter(*flow, State::kPlacing, context.now);
  }
  // The engine asked once, and may have ended the prompt without anybody hearing of it.
  ask_for_place(*flow, context, out);
}

}  // namespace troupe
