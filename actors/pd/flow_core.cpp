#include "actors/pd/flow_core.hpp"

namespace troupe {

namespace {
/// Transfers of one request: two a life, and those of lives that lost their group.
constexpr std::uint64_t kMovesBits = 8;
}  // namespace

void FlowCore::on(const Started&, Context& context, Effects& out) {
  deadline_ = context.now + args_.time_left;
  out.watch(args_.owner);
  out.send(args_.wiring->entrypoint,
           make_message<CheckPrefix>(args_.request, args_.length, args_.sealed));
}

void FlowCore::on(const CancelRow&, Context&, Effects& out) {
  stop_move(out);
  out.stop("cancelled");
}

void FlowCore::on(const PrefixChecked& checked, Context& context, Effects& out) {
  hit_ = checked.hit;
  submit(context, out);
}

void FlowCore::submit(Context& context, Effects& out) {
  state_ = State::kQueued;
  SubmitPrefill submit;
  submit.request = args_.request;
  submit.owner = context.self;
  submit.length = args_.length;
  submit.hit = hit_;
  if (args_.sealed.work != nullptr) {
    submit.affinity = args_.sealed.work->session;
    if (args_.wiring->send_chains) submit.chain = args_.sealed.work->chain;
  }
  submit.time_left = time_left(context.now);
  out.send(args_.wiring->prefill_balancer, make_message<SubmitPrefill>(std::move(submit)));
}

void FlowCore::on(const PrefillAssigned& assigned, Context&, Effects& out) {
  // A newer generation: the engine of the older one is gone, with all that it had of this request.
  const bool computing =
      state_ == State::kQueued || state_ == State::kFetching || state_ == State::kPrefilling;
  if (!computing || assigned.generation <= engine_.generation) return;
  stop_move(out);
  engine_ = {assigned.engine, assigned.member, assigned.generation};
  hit_ = assigned.hit;
  if (hit_ == 0) return start_prefill(out);
  state_ = State::kFetching;
  const KvSizes& kv = args_.wiring->kv;
  const PortId port = port_of(engine_);
  move(MoveKind::kFetch, port, port, hit_ * kv.token_bytes + kv.window_bytes, out);
}

void FlowCore::start_prefill(Effects& out) {
  state_ = State::kPrefilling;
  StartPrefill start;
  start.request = args_.request;
  start.member = engine_.member;
  start.generation = engine_.generation;
  start.hit = hit_;
  start.length = args_.length;
  if (!first_token_) start.streams = args_.streams;
  start.as = args_.route;
  start.sealed = args_.sealed;
  out.send(engine_.group, make_message<StartPrefill>(std::move(start)));
}

void FlowCore::on(const BytesMoved& moved, Context&, Effects& out) {
  if (moved.move != move_) return;  // it was stopped
  move_ = 0;
  if (state_ == State::kFetching) return start_prefill(out);
  if (state_ == State::kPushing) start_decode(out);
}

void FlowCore::on(const PrefillScheduled&, Context& context, Effects& out) {
  if (reserving_ || state_ != State::kPrefilling) return;
  reserving_ = true;
  ReserveDecode reserve;
  reserve.request = args_.request;
  reserve.owner = context.self;
  reserve.context = args_.length;
  reserve.output_most = args_.output_most;
  reserve.time_left = time_left(context.now);
  out.send(args_.wiring->decode_balancer, make_message<ReserveDecode>(std::move(reserve)));
}

void FlowCore::on(const PrefillEnded& ended, Context&, Effects& out) {
  if (state_ != State::kPrefilling) return;
  out.send(args_.wiring->entrypoint, make_message<PrefixComputed>(args_.request, args_.sealed));
  first_token_ = true;
  if (ended.complete) return finish(1, out);
  state_ = State::kPlacing;
  out.watch(engine_.group);
  if (place_) push(out);
}

void FlowCore::on(const DecodeReserved& reserved, Context&, Effects& out) {
  place_ = Place{reserved.rank, reserved.member, reserved.generation};
  // While it seems to decode: the instance went before it could start there.
  if (state_ == State::kPlacing || state_ == State::kPushing || state_ == State::kDecoding) {
    push(out);
  }
}

void FlowCore::push(Effects& out) {
  stop_move(out);
  state_ = State::kPushing;
  const KvSizes& kv = args_.wiring->kv;
  move(MoveKind::kPush, port_of(engine_), port_of(*place_),
       args_.length * kv.token_bytes + 2 * kv.window_bytes, out);
}

void FlowCore::start_decode(Effects& out) {
  state_ = State::kDecoding;
  out.unwatch(engine_.group);
  StartDecode start;
  start.request = args_.request;
  start.member = place_->member;
  start.generation = place_->generation;
  start.context = args_.length + 1;
  start.generated = 1;
  start.streams = args_.streams;
  start.as = args_.route;
  start.sealed = args_.sealed;
  out.send(place_->group, make_message<StartDecode>(std::move(start)));
}

void FlowCore::on(const DecodeEnded& ended, Context&, Effects& out) {
  if (state_ != State::kDecoding) return;
  const std::uint64_t computed = args_.length - hit_ + ended.output;
  const PortId port = port_of(*place_);
  out.send(args_.wiring->fabric,
           make_message<MoveBytes>(std::uint64_t{0}, MoveKind::kWrite, port, port,
                                   computed * args_.wiring->kv.token_bytes));
  finish(ended.output, out);
}

void FlowCore::finish(std::uint32_t output, Effects& out) {
  if (reserving_) {
    out.send(args_.wiring->decode_balancer, make_message<ReleaseDecode>(args_.request, output));
  }
  out.stop("done");
}

void FlowCore::move(MoveKind kind, PortId from, PortId to, std::uint64_t bytes, Effects& out) {
  TROUPE_ASSERT(++moves_ < 1u << kMovesBits, "a flow moves its KV a few times");
  move_ = args_.request.value << kMovesBits | moves_;
  out.send(args_.wiring->fabric, make_message<MoveBytes>(move_, kind, from, to, bytes));
}

void FlowCore::stop_move(Effects& out) {
  if (move_ == 0) return;
  out.send(args_.wiring->fabric, make_message<StopMove>(move_));
  move_ = 0;
}

void FlowCore::on(const PrefillRefused& refused, Context&, Effects& out) {
  fail(refused.code, refused.message, out);
}

void FlowCore::on(const DecodeNotReserved& refused, Context&, Effects& out) {
  reserving_ = false;
  fail(refused.code, refused.message, out);
}

void FlowCore::on(const DecodeReservationLost& lost, Context& context, Effects& out) {
  reserving_ = false;
  place_.reset();
  if (lost.code == Code::kLost) {
    if (state_ == State::kDecoding) begin_anew("its decode instance is gone", context, out);
    return;
  }
  // One that ran out while the prompt is computed anew is asked for again with the last chunk.
  if (state_ == State::kPlacing || state_ == State::kPushing) {
    fail(lost.code, "the reservation on a decode GPU ran out", out);
  }
}

void FlowCore::on(const Down& down, Context& context, Effects& out) {
  if (down.ref == args_.owner) {
    stop_move(out);
    return out.stop("its request ended");
  }
  const bool holds_kv = state_ == State::kPlacing || state_ == State::kPushing;
  if (down.ref == engine_.group && holds_kv) {
    stop_move(out);
    begin_anew("its prefill engine is gone", context, out);
  }
}

void FlowCore::begin_anew(const char* why, Context& context, Effects& out) {
  if (++reroutes_ > kReroutesMost) {
    return fail(Code::kLost, std::string(why) + ", and it was routed anew before", out);
  }
  out.count("troupe_requests_rerouted_total");
  // A reservation that is there or on its way stays good: KV comes later.
  engine_ = {};
  submit(context, out);
}

void FlowCore::on(const Undeliverable& lost, Context&, Effects& out) {
  // A group that is gone: its balancer says where to go instead. Without the others nothing goes.
  if (lost.kind == StartPrefill::info.kind || lost.kind == StartDecode::info.kind) return;
  fail(Code::kUnavailable, "a part of the cluster is gone; try again", out);
}

void FlowCore::fail(Code code, std::string message, Effects& out) {
  stop_move(out);
  RowTokens row;
  row.request = args_.request;
  row.first = first_token_ ? 1 : 0;
  row.finish = Finish::kFailed;
  row.code = code;
  row.error = message;
  TokenBatch batch;
  batch.rank = args_.route;
  batch.rows.push_back(std::move(row));
  out.send(args_.streams, make_message<TokenBatch>(std::move(batch)));
  out.stop(std::move(message));
}

const char* FlowCore::phase() const {
  switch (state_) {
    case State::kChecking:
      return "checking";
    case State::kQueued:
      return "queued";
    case State::kFetching:
      return "fetching";
    case State::kPrefilling:
      return "prefilling";
    case State::kPlacing:
      return "placing";
    case State::kPushing:
      return "pushing";
    case State::kDecoding:
      return "decoding";
  }
  return "unknown";
}

std::string FlowCore::describe() const {
  return "length=" + std::to_string(args_.length) + " hit=" + std::to_string(hit_);
}

}  // namespace troupe
