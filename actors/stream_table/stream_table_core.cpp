#include "actors/stream_table/stream_table_core.hpp"

#include <algorithm>
#include <optional>

#include "actors/gateway/api_error.hpp"

namespace troupe {

namespace {
constexpr std::uint32_t kParkTimer = 1;
constexpr std::uint32_t kKeepAliveTimer = 2;
/// Rows that fall silent one after another share a look: it is at most this part of the interval
/// late.
constexpr std::int64_t kKeepAliveSlack = 16;

AnswerEnding ending_of(Finish finish) {
  return finish == Finish::kLength ? AnswerEnding::kLength : AnswerEnding::kStop;
}

/// What comes again when a row began anew at another place; its client has it.
bool known_already(const RowTokens& tokens, std::uint32_t had) {
  return tokens.first + tokens.count() <= had && tokens.finish == Finish::kNone;
}

const char* finished_reason(Finish finish) {
  return finish == Finish::kLength ? "length" : "stop";
}
}  // namespace

StreamTableCore::Row* StreamTableCore::find(RequestId id) {
  if (Row* row = rows_.find(id)) return row;
  const auto more = more_.find(id);
  return more == more_.end() ? nullptr : &rows_.at(more->second);
}

StreamTableCore::Choice& StreamTableCore::Row::choice_of(RequestId id) {
  const auto at = std::find_if(choices.begin(), choices.end(),
                               [&](const Choice& choice) { return choice.id == id; });
  TROUPE_ASSERT(at != choices.end(), "a row is found by the ids of its choices");
  return *at;
}

void StreamTableCore::on(const OpenRow& open, Context& context, Effects& out) {
  TROUPE_ASSERT(!rows_.contains(open.request), "a request opens one row");
  Row row;
  row.open = open;
  row.writer = open.answer.format->open();
  row.choices.push_back({open.request, 0, {}, false});
  for (const RequestId id : open.more_rows) {
    row.choices.push_back({id, 0, {}, false});
    more_[id] = open.request;
  }
  row.said_at = context.now;
  if (open.answer.format->streamed()) expect_silence(context.now, out);
  rows_.insert(open.request, std::move(row));
  out.watch(open.owner);
}

void StreamTableCore::on(const TokenBatch& batch, Context& context, Effects& out) {
  for (const auto& tokens : batch.rows) {
    Row* row = find(tokens.request);
    // Closed rows' tokens may still be on the way. A rank that restarted knows no row of ours.
    if (row == nullptr || row->open.rank != batch.rank) continue;
    take_tokens(*row, tokens, context, out);
  }
  if (batch.acknowledge) out.send(batch.rank, make_message<BatchTaken>(batch.step));
}

void StreamTableCore::take_tokens(Row& row, const RowTokens& tokens, Context& context,
                                  Effects& out) {
  Choice& choice = row.choice_of(tokens.request);
  if (choice.over) return;  // a stop string ended it; the rank hears of that
  if (known_already(tokens, choice.output_tokens)) return;
  if (tokens.first != choice.output_tokens) {
    return fail(row, Code::kLost, "tokens were lost between the rank and the gateway", context,
                out);
  }
  if (!tokens.logprobs.empty() && tokens.logprobs.size() != tokens.tokens.size()) {
    return fail(row, Code::kCorrupt, "a rank sent log-probabilities that fit no tokens", context,
                out);
  }
  if (tokens.finish == Finish::kFailed) return fail(row, tokens.code, tokens.error, context, out);
  observe_tokens(row, choice, tokens, context, out);
  std::string bytes;
  if (row.choices.size() > 1) row.writer->turn_to(row.index_of(choice));
  row.writer->passed(context.now - row.open.arrived);
  const bool stopped = row.writer->feed(tokens, bytes);
  write(row, std::move(bytes), context, out);
  if (stopped) {
    return end_choice(row, choice, Finish::kStop, CloseReason::kStopString, context, out);
  }
  if (tokens.finish != Finish::kNone) {
    return end_choice(row, choice, tokens.finish, CloseReason::kFinished, context, out);
  }
  watch_buffer(row, context, out);
}

void StreamTableCore::end_choice(Row& row, Choice& choice, Finish finish, CloseReason reason,
                                 Context& context, Effects& out) {
  choice.over = true;
  std::string bytes;
  row.writer->finish(finish, choice.output_tokens, bytes);
  const bool last = std::all_of(row.choices.begin(), row.choices.end(),
                                [](const Choice& one) { return one.over; });
  if (last) return this->finish(row, finish, reason, std::move(bytes), context, out);
  write(row, std::move(bytes), context, out);
  if (reason == CloseReason::kStopString) {
    out.send(row.open.rank, make_message<CancelRow>(choice.id));
  }
  watch_buffer(row, context, out);
}

void StreamTableCore::observe_tokens(Row& row, Choice& choice, const RowTokens& tokens,
                                     Context& context, Effects& out) {
  const std::size_t count = tokens.count();
  if (count == 0) return;
  if (row.output_tokens == 0) {
    row.queued = tokens.queued;
    row.first_token_at = context.now;
    out.observe("vllm:time_to_first_token_seconds", (context.now - row.open.arrived).seconds());
  } else if (choice.output_tokens > 0) {
    out.observe("vllm:inter_token_latency_seconds", (context.now - choice.last_token_at).seconds());
  }
  row.last_token_at = context.now;
  choice.last_token_at = context.now;
  choice.output_tokens += static_cast<std::uint32_t>(count);
  row.output_tokens += static_cast<std::uint32_t>(count);
  row.unsent_tokens += static_cast<std::uint32_t>(count);
}

void StreamTableCore::write(Row& row, std::string bytes, Context& context, Effects& out) {
  if (bytes.empty() || !row.open.answer.format->streamed()) return;
  if (!row.begun) {
    row.begun = true;
    HeaderList headers{{"content-type", row.open.answer.format->content_type()},
                       {"cache-control", "no-cache"},
                       {"x-accel-buffering", "no"}};  // proxies such as nginx pass it on at once
    out.send(row.open.session,
             make_message<SessionBegin>(row.open.exchange, std::uint16_t{200}, std::move(headers)));
  }
  row.said_at = context.now;
  row.written += bytes.size();
  out.send(row.open.session,
           make_message<SessionWrite>(row.open.exchange, std::move(bytes), row.unsent_tokens));
  row.unsent_tokens = 0;
}

void StreamTableCore::expect_silence(Time from, Effects& out) {
  if (args_.keep_alive <= Duration() || silence_due_ != Time()) return;
  silence_due_ = from + args_.keep_alive;
  out.timer({kKeepAliveTimer, 0}, silence_due_);
}

void StreamTableCore::keep_alive(Context& context, Effects& out) {
  silence_due_ = Time();
  std::optional<Time> oldest;
  for (auto& [id, row] : rows_) {
    if (!row.open.answer.format->streamed()) continue;
    if (!row.parked && context.now - row.said_at >= args_.keep_alive) {
      std::string bytes;
      row.writer->keep_alive(bytes);
      write(row, std::move(bytes), context, out);
    }
    // A parked row is looked at again when the others are.
    const Time said = row.parked ? context.now : row.said_at;
    oldest = oldest ? std::min(*oldest, said) : said;
  }
  const Time soonest = context.now - args_.keep_alive + args_.keep_alive / kKeepAliveSlack;
  if (oldest) expect_silence(std::max(*oldest, soonest), out);
}

void StreamTableCore::watch_buffer(Row& row, Context& context, Effects& out) {
  const std::uint64_t outstanding = row.written - std::min(row.written, row.drained);
  if (!row.parked && outstanding > args_.buffer_max.value) {
    row.parked = true;
    park(row, true, out);
    out.timer({kParkTimer, row.open.request.value}, context.now + args_.park_max);
    out.count("troupe_rows_parked_total");
  } else if (row.parked && outstanding <= args_.buffer_max.value / 2) {
    row.parked = false;
    park(row, false, out);
    out.cancel_timer({kParkTimer, row.open.request.value});
  }
}

void StreamTableCore::park(Row& row, bool parked, Effects& out) {
  for (const Choice& choice : row.choices) {
    if (!choice.over) out.send(row.open.rank, make_message<ParkRow>(choice.id, parked));
  }
}

void StreamTableCore::on(const SessionDrained& drained, Context& context, Effects& out) {
  Row* row = find(drained.row);
  if (row == nullptr || row->open.session != context.from ||
      row->open.exchange != drained.exchange) {
    return;
  }
  row->drained = drained.bytes;
  watch_buffer(*row, context, out);
}

void StreamTableCore::on(const TimerFired& fired, Context& context, Effects& out) {
  if (fired.tag.kind == kKeepAliveTimer) return keep_alive(context, out);
  Row* row = find(RequestId(fired.tag.key));
  if (row == nullptr) return;
  out.count("troupe_rows_cut_slow_client_total");
  out.send(row->open.session,
           make_message<SessionCut>(row->open.exchange, facts(*row, AnswerEnding::kCancelled)));
  close(*row, CloseReason::kSlowClient, out);
}

void StreamTableCore::finish(Row& row, Finish finish, CloseReason reason, std::string bytes,
                             Context& context, Effects& out) {
  keep(row, out);
  AnswerFacts said = facts(row, ending_of(finish));
  if (row.writer->tally().calls_tools) said.ending = AnswerEnding::kToolCalls;
  if (row.open.answer.format->streamed()) {
    write(row, std::move(bytes), context, out);
    out.send(row.open.session, make_message<SessionEnd>(row.open.exchange, std::move(said)));
  } else {
    HeaderList headers{{"content-type", row.open.answer.format->content_type()}};
    out.send(row.open.session,
             make_message<SessionRespond>(row.open.exchange, std::uint16_t{200}, std::move(headers),
                                          std::move(bytes), row.unsent_tokens, std::move(said)));
  }
  out.count("vllm:request_success_total", 1, finished_reason(finish));
  out.observe("vllm:e2e_request_latency_seconds", (context.now - row.open.arrived).seconds());
  if (row.output_tokens > row.choices.size()) {
    out.observe("vllm:request_time_per_output_token_seconds",
                (row.last_token_at - row.first_token_at).seconds() * row.choices.size() /
                    (row.output_tokens - row.choices.size()));
  }
  close(row, reason, out);
}

/// Before the client sees the end: it may ask for the response at once.
void StreamTableCore::keep(const Row& row, Effects& out) {
  if (!row.open.store) return;
  SharedResponse kept = row.writer->kept();
  if (kept) out.send(row.open.store, make_message<KeepResponse>(ResponseChain{{std::move(kept)}}));
}

AnswerFacts StreamTableCore::facts(const Row& row, AnswerEnding ending) const {
  AnswerFacts facts;
  const AnswerTally tally = row.writer->tally();
  facts.request = row.open.request;
  facts.model = row.open.model;
  facts.streamed = row.open.answer.format->streamed();
  facts.ending = ending;
  facts.prompt_tokens = row.open.prompt_tokens;
  facts.cached_tokens = tally.cached_tokens;
  facts.output_tokens = row.output_tokens;
  facts.reasoning_tokens = tally.reasoning_tokens;
  if (row.output_tokens == 0) return facts;
  facts.queued = row.queued;
  facts.first_token = row.first_token_at - row.open.arrived;
  facts.decoded = row.last_token_at - row.first_token_at;
  return facts;
}

void StreamTableCore::fail(Row& row, Code code, const std::string& message, Context& context,
                           Effects& out) {
  SessionRespond answer =
      error_response(row.open.exchange, row.open.answer.format->protocol(), code, message);
  AnswerFacts said =
      facts(row, code == Code::kCancelled ? AnswerEnding::kCancelled : AnswerEnding::kError);
  said.code = answer.facts.code;
  if (row.begun) {
    std::string bytes;
    row.writer->fail(code, message, bytes);
    write(row, std::move(bytes), context, out);
    if (row.open.answer.format->protocol() == recipe::Protocol::kResponses) {
      // response.failed is an end that all of its clients know; a cut body hides it from some.
      out.send(row.open.session, make_message<SessionEnd>(row.open.exchange, std::move(said)));
    } else {
      // Cut, not ended: a client that does not read error events must not take this for the end.
      out.send(row.open.session, make_message<SessionCut>(row.open.exchange, std::move(said)));
    }
  } else {
    answer.facts = std::move(said);
    out.send(row.open.session, make_message<SessionRespond>(std::move(answer)));
  }
  out.count("troupe_requests_failed_total", 1, std::string(to_string(code)));
  close(row, CloseReason::kFailed, out);
}

void StreamTableCore::close(Row& row, CloseReason reason, Effects& out) {
  out.send(row.open.owner, make_message<RowClosed>(row.open.request, reason, row.output_tokens));
  forget(row.open.request, out);
}

void StreamTableCore::forget(RequestId id, Effects& out) {
  Row& row = *find(id);
  if (row.parked) out.cancel_timer({kParkTimer, id.value});
  out.unwatch(row.open.owner);
  for (const RequestId more : row.open.more_rows) more_.erase(more);
  rows_.erase(id);
  if (draining_ && rows_.empty()) out.stop("drained");
}

void StreamTableCore::on(const FailRow& failed, Context& context, Effects& out) {
  Row* row = find(failed.request);
  if (row != nullptr) fail(*row, failed.code, failed.message, context, out);
}

void StreamTableCore::on(const CloseRow& closed, Context&, Effects& out) {
  Row* row = find(closed.request);
  if (row == nullptr) return;
  out.send(row->open.session,
           make_message<SessionCut>(row->open.exchange, facts(*row, AnswerEnding::kCancelled)));
  forget(closed.request, out);
}

void StreamTableCore::on(const Down& down, Context& context, Effects& out) {
  std::vector<RequestId> owned;
  for (const auto& [id, row] : rows_) {
    if (row.open.owner == down.ref) owned.push_back(id);
  }
  for (const RequestId id : owned) {
    fail(*find(id), Code::kInternal, "the request was ended inside of the server: " + down.detail,
         context, out);
  }
}

void StreamTableCore::on(const Undeliverable&, Context&, Effects&) {
  // A session or request that has ended: its owner's end closes the row.
}

void StreamTableCore::on(const Drain&, Context&, Effects& out) {
  draining_ = true;
  if (rows_.empty()) out.stop("drained");
}

std::string StreamTableCore::describe() const {
  std::size_t parked = 0;
  for (const auto& [id, row] : rows_) parked += row.parked ? 1 : 0;
  return "rows=" + std::to_string(rows_.size()) + " parked=" + std::to_string(parked);
}

}  // namespace troupe
