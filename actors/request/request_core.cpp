#include "actors/request/request_core.hpp"

#include "actors/gateway/api_error.hpp"

namespace troupe {

namespace {
constexpr TimerTag kDeadline{1, 0};
constexpr OpId kPrepare{1};
/// How long the stream table may take to close a row that has failed.
constexpr Duration kCloseGrace = seconds(1);
}  // namespace

void RequestCore::on(const Started&, Context& context, Effects& out) {
  gateway_ = context.from;
  deadline_ = context.now + args_.timeout;
  out.timer(kDeadline, deadline_);
  out.watch(args_.streams);
  auto prepare = [arrived = args_.arrived, preparer = args_.preparer, id = args_.id] {
    return preparer->prepare(*arrived, id);
  };
  const Duration cost = args_.preparer->modelled_time(*args_.arrived);
  out.compute(kPrepare, make_job<Prepared>(std::move(prepare), cost), deadline_);
}

void RequestCore::on(const Done<Prepared>& done, Context& context, Effects& out) {
  if (state_ != State::kPreparing) return;
  if (done.failed) return fail(done.error.code, done.error.message, context, out);
  if (done.output.reply_status != 0) {
    SessionRespond reply;
    reply.exchange = args_.arrived->exchange;
    reply.status = done.output.reply_status;
    reply.headers.emplace_back("content-type", "application/json");
    reply.body = done.output.reply_body;
    out.send(args_.arrived->session, make_message<SessionRespond>(std::move(reply)));
    return out.stop("answered without a rank");
  }
  prepared_ = done.output;
  state_ = State::kPlacing;
  out.send(gateway_, make_message<PlaceRequest>(args_.id, prepared_.model));
}

void RequestCore::on(const Placed& placed, Context& context, Effects& out) {
  if (state_ != State::kPlacing) return;
  state_ = State::kRunning;
  rank_ = placed.rank;
  out.watch(rank_);
  OpenRow open;
  open.request = args_.id;
  open.owner = context.self;
  open.session = args_.arrived->session;
  open.exchange = args_.arrived->exchange;
  open.rank = rank_;
  open.arrived = args_.arrived->arrived;
  open.prompt_tokens = prepared_.prompt_length;
  open.answer = prepared_.answer;
  out.send(args_.streams, make_message<OpenRow>(std::move(open)));
  SubmitRow submit;
  submit.request = args_.id;
  submit.owner = context.self;
  submit.streams = args_.streams;
  submit.prompt = std::move(prepared_.prompt);
  submit.prompt_length = prepared_.prompt_length;
  submit.max_tokens = prepared_.max_tokens;
  submit.stop_ids = prepared_.stop_ids;
  submit.sampling = prepared_.sampling;
  submit.script = prepared_.script;
  submit.time_left = deadline_ - context.now;
  out.send(rank_, make_message<SubmitRow>(std::move(submit)));
}

void RequestCore::on(const NotPlaced& refused, Context& context, Effects& out) {
  fail(refused.code, refused.message, context, out);
}

void RequestCore::on(const RowRejected& rejected, Context& context, Effects& out) {
  fail(rejected.code, rejected.message, context, out);
}

void RequestCore::on(const RowClosed& closed, Context&, Effects& out) {
  if (closed.reason != CloseReason::kFinished) cancel_row(out);
  out.stop("done");
}

void RequestCore::on(const SessionGone&, Context&, Effects& out) {
  out.count("troupe_requests_client_gone_total");
  cancel_row(out);
  if (rank_) out.send(args_.streams, make_message<CloseRow>(args_.id));
  out.stop("client gone");
}

void RequestCore::on(const CancelRequest& cancel, Context& context, Effects& out) {
  fail(Code::kCancelled, "the request was cancelled: " + cancel.why, context, out);
}

void RequestCore::on(const Drain& drain, Context& context, Effects& out) {
  // A drain waits for requests, until it has no time left.
  if (drain.within <= Duration()) {
    fail(Code::kUnavailable, "the server shuts down; try another", context, out);
  }
}

void RequestCore::on(const TimerFired&, Context& context, Effects& out) {
  if (state_ == State::kFailing) {
    out.send(args_.arrived->session, make_message<SessionCut>(args_.arrived->exchange));
    return out.stop("the stream table did not answer");
  }
  out.count("troupe_requests_deadline_total");
  fail(Code::kDeadline,
       "the request took longer than " + std::to_string(args_.timeout.value / 1'000'000) + " ms",
       context, out);
}

void RequestCore::on(const Down& down, Context& context, Effects& out) {
  if (down.ref == args_.streams && (state_ == State::kPreparing || state_ == State::kPlacing)) {
    return fail(Code::kUnavailable, "the stream table is gone; try again", context, out);
  }
  if (down.ref == args_.streams) {
    // The only writer is gone: whether bytes were written is unknown, so the client sees a cut.
    out.send(args_.arrived->session, make_message<SessionCut>(args_.arrived->exchange));
    cancel_row(out);
    return out.stop("stream table lost");
  }
  if (down.ref == rank_) {
    rank_ = ActorRef{};
    fail(Code::kLost, "the rank that ran this request is gone: " + down.detail, context, out);
  }
}

void RequestCore::on(const Undeliverable& lost, Context& context, Effects& out) {
  if (lost.to == args_.arrived->session) return out.stop("session gone");
  if (lost.kind == SubmitRow::info.kind) {
    fail(Code::kUnavailable, "the rank that was chosen is gone; try again", context, out);
  }
}

void RequestCore::cancel_row(Effects& out) {
  if (rank_) out.send(rank_, make_message<CancelRow>(args_.id));
}

void RequestCore::fail(Code code, const std::string& message, Context& context, Effects& out) {
  if (state_ == State::kFailing) return;
  const bool row_open = state_ == State::kRunning;
  state_ = State::kFailing;
  cancel_row(out);
  if (row_open) {
    // RowClosed comes back and ends this actor; a timer guards the wait.
    out.timer(kDeadline, context.now + kCloseGrace);
    out.send(args_.streams, make_message<FailRow>(args_.id, code, message));
    return;
  }
  out.count("troupe_requests_failed_total", 1, std::string(to_string(code)));
  out.send(args_.arrived->session,
           make_message<SessionRespond>(error_response(
               args_.arrived->exchange, protocol_of(args_.arrived->path), code, message)));
  out.stop(message);
}

const char* RequestCore::phase() const {
  switch (state_) {
    case State::kPreparing:
      return "preparing";
    case State::kPlacing:
      return "placing";
    case State::kRunning:
      return "running";
    case State::kFailing:
      return "failing";
  }
  return "unknown";
}

std::string RequestCore::describe() const {
  return "request=" + std::to_string(args_.id.value) + " model=" + prepared_.model +
         " prompt_tokens=" + std::to_string(prepared_.prompt_length) + " rank=" + to_string(rank_);
}

}  // namespace troupe
