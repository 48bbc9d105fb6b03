#include "actors/request/request_core.hpp"

#include "actors/gateway/answer_id.hpp"
#include "actors/gateway/api_error.hpp"
#include "actors/request/shown_response.hpp"
#include "actors/stream_table/answer.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {
constexpr TimerTag kDeadline{1, 0};
constexpr OpId kPrepare{1};
/// A small body is a prompt within some 10 µs (a profile of the gateway under `tools/bench
/// gateway`'s small completions), less than two wake-ups of threads cost.
constexpr std::size_t kBriefBody = 1024;
/// How long the stream table may take to close a row that has failed.
constexpr Duration kCloseGrace = seconds(1);
}  // namespace

RequestCore::Client RequestCore::client_of(const HttpArrived& arrived) {
  return {arrived.session, arrived.exchange,     protocol_of(arrived.path),
          arrived.arrived, arrived.unix_seconds, arrived.tenant,
          arrived.trace,   arrived.tracestate};
}

void RequestCore::on(const Started&, Context& context, Effects& out) {
  gateway_ = context.from;
  deadline_ = context.now + args_.timeout;
  out.timer(kDeadline, deadline_);
  const HttpArrived& arrived = *args_.arrived;
  out.send(arrived.session, make_message<SessionAdopted>(arrived.exchange, context.self,
                                                         args_.streams, args_.id, args_.headers));
  if (const auto path = response_of(arrived.path)) return ask_for(*path, context, out);
  out.watch(args_.streams);
  prepare(nullptr, out);
}

void RequestCore::ask_for(const ResponsePath& path, Context& context, Effects& out) {
  const HttpArrived& arrived = *args_.arrived;
  const auto wanted = read_shown(arrived.query, path.input_items);
  if (const auto* error = std::get_if<ApiError>(&wanted)) {
    return reply(static_cast<std::uint16_t>(error->status), error_body(*error), error->code, out);
  }
  AskResponse ask;
  ask.id = path.id;
  ask.owner = arrived.tenant;
  ask.drop = arrived.method == "DELETE";
  ask.unix_seconds = arrived.unix_seconds;
  ask_store(make_message<AskResponse>(std::move(ask)), context, out);
}

void RequestCore::prepare(std::shared_ptr<const ResponseChain> earlier, Effects& out) {
  state_ = State::kPreparing;
  auto job = [arrived = args_.arrived, preparer = args_.preparer, id = args_.id, earlier] {
    return preparer->prepare(*arrived, id, earlier.get());
  };
  const Duration cost = args_.preparer->modelled_time(*args_.arrived);
  const bool brief = !earlier && args_.arrived->body.size() <= kBriefBody;
  out.compute(kPrepare,
              make_job<Prepared>(std::move(job), cost, brief ? JobLength::kBrief : JobLength::kAny),
              deadline_);
  // Only a conversation that goes on is prepared twice. A body may be megabytes, which a live
  // system's job still holds; simulated jobs hold nothing.
  if (client_.protocol != recipe::Protocol::kResponses) args_.arrived = {};
}

void RequestCore::on(const Done<Prepared>& done, Context& context, Effects& out) {
  if (state_ != State::kPreparing) return;
  if (done.failed) return fail(done.error.code, done.error.message, context, out);
  if (done.output.reply_status != 0) {
    model_ = done.output.model;
    return reply(done.output.reply_status, done.output.reply_body, done.output.reply_code, out);
  }
  if (!done.output.previous.empty()) {
    const std::int64_t now = client_.unix_seconds;
    return ask_store(make_message<FetchConversation>(done.output.previous, client_.tenant, now),
                     context, out);
  }
  prepared_ = context.shared<Done<Prepared>>();
  const Prepared& prepared = done.output;
  model_ = prepared.model;
  prompt_tokens_ = prepared.prompt_length;
  streamed_ = prepared.answer.format != nullptr && prepared.answer.format->streamed();
  args_.arrived = {};  // the body is not needed any more, and megabytes may be
  state_ = State::kPlacing;
  out.send(gateway_, make_message<PlaceRequest>(args_.id, model_, row_count()));
}

AnswerFacts RequestCore::facts(AnswerEnding ending, std::string code) const {
  AnswerFacts facts;
  facts.request = args_.id;
  facts.model = model_;
  facts.ending = ending;
  facts.prompt_tokens = prompt_tokens_;
  facts.code = std::move(code);
  facts.streamed = streamed_;
  return facts;
}

void RequestCore::reply(std::uint16_t status, std::string body, const std::string& code,
                        Effects& out) {
  const AnswerEnding ending = status < 400 ? AnswerEnding::kNone : AnswerEnding::kError;
  HeaderList headers{{"content-type", "application/json"}};
  out.send(client_.session,
           make_message<SessionRespond>(client_.exchange, status, std::move(headers),
                                        std::move(body), 0u, facts(ending, code)));
  out.stop("answered without a rank");
}

void RequestCore::ask_store(Message question, Context& context, Effects& out) {
  state_ = State::kAsking;
  if (args_.store) {
    out.watch(args_.store);
    return out.send(args_.store, std::move(question));
  }
  constexpr const char* kNothing = "this server keeps no responses";
  if (question.as<FetchConversation>() != nullptr) return refuse_previous(kNothing, out);
  fail(Code::kNotFound, kNothing, context, out);
}

void RequestCore::on(const ConversationFetched& fetched, Context& context, Effects& out) {
  if (state_ != State::kAsking) return;
  if (fetched.found) return prepare(std::make_shared<const ResponseChain>(fetched.chain), out);
  if (fetched.code == Code::kNotFound) return refuse_previous(fetched.message, out);
  fail(fetched.code, fetched.message, context, out);
}

void RequestCore::refuse_previous(const std::string& why, Effects& out) {
  // Status and code as the vendor's.
  const ApiError error{400, "invalid_request_error", "previous_response_id",
                       "previous_response_not_found", why};
  reply(static_cast<std::uint16_t>(error.status), error_body(error), error.code, out);
}

void RequestCore::on(const ResponseAnswered& answered, Context& context, Effects& out) {
  if (state_ != State::kAsking) return;
  if (!answered.found) return fail(answered.code, answered.message, context, out);
  if (!response_of(args_.arrived->path)->input_items) return reply(200, answered.body, "", out);
  // Items may be megabytes: they are looked through where prompts are.
  state_ = State::kPreparing;
  auto job = [one = answered.one.responses.front(), arrived = args_.arrived] {
    return Result<Prepared>(input_items_answer(*one, arrived->query));
  };
  out.compute(kPrepare, make_job<Prepared>(std::move(job), Duration()), deadline_);
}

void RequestCore::on(const Placed& placed, Context& context, Effects& out) {
  if (state_ != State::kPlacing) return;
  state_ = State::kRunning;
  rank_ = placed.rank;
  out.watch(rank_);
  rows_ = {args_.id};
  rows_.insert(rows_.end(), placed.more_rows.begin(), placed.more_rows.end());
  TROUPE_ASSERT(rows_.size() == row_count(), "a row for each choice");
  OpenRow open;
  open.request = args_.id;
  open.owner = context.self;
  open.session = client_.session;
  open.exchange = client_.exchange;
  open.rank = rank_;
  open.arrived = client_.arrived;
  open.prompt_tokens = prompt_tokens_;
  open.answer = prepared_->output.answer;
  open.more_rows = placed.more_rows;
  open.store = args_.store;
  open.model = model_;
  out.send(args_.streams, make_message<OpenRow>(std::move(open)));
  for (std::size_t i = 0; i < rows_.size(); ++i) submit(i, context, out);
  prepared_ = {};
}

void RequestCore::submit(std::size_t row, Context& context, Effects& out) {
  const Prepared& prepared = prepared_->output;
  const std::size_t prompt = row / prepared.choices;
  SubmitRow submit;
  submit.request = rows_[row];
  submit.owner = context.self;
  submit.streams = args_.streams;
  if (prompt == 0) {
    submit.prompt = prepared.prompt;
    submit.prompt_length = prepared.prompt_length;
    submit.max_tokens = prepared.max_tokens;
  } else {
    const MorePrompt& more = prepared.more_prompts[prompt - 1];
    submit.prompt = more.prompt;
    submit.prompt_length = static_cast<std::uint32_t>(more.prompt.size());
    submit.max_tokens = more.max_tokens;
  }
  submit.min_tokens = prepared.min_tokens;
  submit.stop_ids = prepared.stop_ids;
  submit.sampling = prepared.sampling;
  // The first choice is what a request for one would get; the others differ from it.
  if (row > 0) submit.sampling.seed = splitmix64(prepared.sampling.seed + row);
  submit.script = prepared.script;
  submit.sealed = prepared.sealed;
  submit.time_left = deadline_ - context.now;
  submit.trace = client_.trace;
  submit.tracestate = client_.tracestate;
  out.send(rank_, make_message<SubmitRow>(std::move(submit)));
}

std::uint32_t RequestCore::row_count() const {
  const Prepared& prepared = prepared_->output;
  return static_cast<std::uint32_t>(1 + prepared.more_prompts.size()) * prepared.choices;
}

void RequestCore::on(const NotPlaced& refused, Context& context, Effects& out) {
  fail(refused.code, refused.message, context, out);
}

void RequestCore::on(const RowRejected& rejected, Context& context, Effects& out) {
  fail(rejected.code, rejected.message, context, out);
}

void RequestCore::on(const RowClosed& closed, Context&, Effects& out) {
  if (const std::string& tenant = client_.tenant; !tenant.empty()) {
    out.count("troupe_tenant_prompt_tokens_total", prompt_tokens_, tenant);
    out.count("troupe_tenant_generation_tokens_total", closed.output_tokens, tenant);
  }
  if (closed.reason != CloseReason::kFinished) cancel_row(out);
  out.stop("done");
}

void RequestCore::on(const SessionGone&, Context&, Effects& out) {
  out.count("troupe_requests_client_gone_total");
  cancel_row(out);
  const bool row_open = state_ == State::kRunning || state_ == State::kFailing;
  if (row_open) {
    out.send(args_.streams, make_message<CloseRow>(args_.id));
  } else {
    out.send(client_.session,
             make_message<SessionCut>(client_.exchange, facts(AnswerEnding::kCancelled)));
  }
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
    out.send(client_.session, make_message<SessionCut>(client_.exchange,
                                                       facts(AnswerEnding::kError,
                                                             std::string(to_string(Code::kLost)))));
    return out.stop("the stream table did not answer");
  }
  out.count("troupe_requests_deadline_total");
  fail(Code::kDeadline,
       "the request took longer than " + std::to_string(args_.timeout.value / 1'000'000) + " ms",
       context, out);
}

void RequestCore::on(const Down& down, Context& context, Effects& out) {
  if (down.ref == args_.store && state_ == State::kAsking) {
    return fail(Code::kUnavailable, "the store of responses is gone; try again", context, out);
  }
  if (down.ref == args_.store) return;
  const bool row_open = state_ == State::kRunning || state_ == State::kFailing;
  if (down.ref == args_.streams && !row_open) {
    return fail(Code::kUnavailable, "the stream table is gone; try again", context, out);
  }
  if (down.ref == args_.streams) {
    // The only writer is gone: whether bytes were written is unknown, so the client sees a cut.
    out.send(client_.session, make_message<SessionCut>(client_.exchange,
                                                       facts(AnswerEnding::kError,
                                                             std::string(to_string(Code::kLost)))));
    cancel_row(out);
    return out.stop("stream table lost");
  }
  if (down.ref == rank_) {
    rank_ = ActorRef{};
    fail(Code::kLost, "the rank that ran this request is gone: " + down.detail, context, out);
  }
}

void RequestCore::on(const Undeliverable& lost, Context& context, Effects& out) {
  if (lost.to == client_.session) return out.stop("session gone");
  if (lost.kind == SubmitRow::info.kind) {
    fail(Code::kUnavailable, "the rank that was chosen is gone; try again", context, out);
  }
}

void RequestCore::cancel_row(Effects& out) {
  if (!rank_) return;
  for (const RequestId row : rows_) out.send(rank_, make_message<CancelRow>(row));
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
  SessionRespond answer = error_response(client_.exchange, client_.protocol, code, message);
  answer.facts = facts(code == Code::kCancelled ? AnswerEnding::kCancelled : AnswerEnding::kError,
                       std::move(answer.facts.code));
  out.send(client_.session, make_message<SessionRespond>(std::move(answer)));
  out.stop(message);
}

const char* RequestCore::phase() const {
  switch (state_) {
    case State::kPreparing:
      return "preparing";
    case State::kAsking:
      return "asking";
    case State::kPlacing:
      return "placing";
    case State::kRunning:
      return "running";
    case State::kFailing:
      return "failing";
  }
  return "unknown";
}

Subject RequestCore::subject() const {
  return answer_subject(client_.protocol, args_.id);
}

std::string RequestCore::describe() const {
  return "model=" + model_ + " prompt_tokens=" + std::to_string(prompt_tokens_) +
         " rank=" + to_string(rank_);
}

}  // namespace troupe
