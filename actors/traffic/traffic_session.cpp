// How an exchange goes on and ends: the client's side of the session protocol.
#include <rapidjson/document.h>

#include "actors/traffic/traffic_core.hpp"

namespace troupe {

namespace {

/// How much a reader takes before it says so: a quarter of the bound at which a row is parked.
constexpr std::uint64_t kDrainedStep = 64u << 10;

/// "HTTP 503 unavailable": the status and the error's code, without the numbers of its message, so
/// that equal reasons count together.
std::string http_failure(std::uint16_t status, const std::string& body) {
  // Status 0: the dialer had no answer at all.
  std::string text = status == 0 ? "no answer:" : "HTTP " + std::to_string(status);
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(body.data(), body.size());
  if (document.HasParseError() || !document.IsObject()) return text;
  const auto error = document.FindMember("error");
  if (error == document.MemberEnd() || !error->value.IsObject()) return text;
  const auto code = error->value.FindMember("code");
  if (code != error->value.MemberEnd() && code->value.IsString()) {
    text += std::string(" ") + code->value.GetString();
  }
  return text;
}

/// Requires: the stream carried an error.
std::string stream_failure(const ChunkCounter& counter) {
  const std::string& code = *counter.error();
  return code.empty() ? "the stream carried an error" : "the stream ended with " + code;
}

}  // namespace

TrafficCore::Exchange* TrafficCore::find(std::uint64_t number) {
  return exchanges_.find(number);
}

void TrafficCore::on(const SessionAdopted& adopted, Context&, Effects& out) {
  Exchange* exchange = find(adopted.exchange);
  if (exchange == nullptr) return;
  exchange->request = adopted.request;
  exchange->streams = adopted.streams;
  exchange->row = adopted.row;
  if (!by_request_.contains(adopted.request)) {
    by_request_.insert(adopted.request, adopted.exchange);
  }
  out.watch(adopted.request);
}

void TrafficCore::on(const SessionBegin& begin, Context&, Effects&) {
  if (Exchange* exchange = find(begin.exchange)) exchange->record.status = begin.status;
}

void TrafficCore::on(const SessionWrite& write, Context& context, Effects& out) {
  Exchange* exchange = find(write.exchange);
  if (exchange == nullptr) return;
  exchange->bytes += write.bytes.size();
  const std::uint32_t tokens =
      exchange->counter ? exchange->counter->feed(write.bytes) : write.tokens;
  take_tokens(*exchange, tokens, context.now);
  if (exchange->reads && exchange->bytes - exchange->bytes_drained >= kDrainedStep) {
    tell_drained(write.exchange, *exchange, out);
  }
}

void TrafficCore::take_tokens(Exchange& exchange, std::uint32_t tokens, Time now) const {
  if (tokens == 0) return;
  ExchangeRecord& record = exchange.record;
  record.output_tokens += tokens;
  if (!record.first_token) {
    record.first_token = now;
  } else if (args_.gaps_are_real) {
    record.gaps.push_back(now - *record.last_token);
  }
  record.last_token = now;
}

void TrafficCore::tell_drained(std::uint64_t number, Exchange& exchange, Effects& out) {
  if (!exchange.streams || exchange.bytes == exchange.bytes_drained) return;
  exchange.bytes_drained = exchange.bytes;
  out.send(exchange.streams, make_message<SessionDrained>(exchange.row, number, exchange.bytes));
}

void TrafficCore::on(const SessionEnd& end, Context& context, Effects& out) {
  Exchange* exchange = find(end.exchange);
  if (exchange == nullptr) return;
  by_request_.fetch_place(exchange->request);
  ExchangeRecord& record = exchange->record;
  take_usage(*exchange);
  if (record.status != 200) {
    conclude(end.exchange, Outcome::kFailed, http_failure(record.status, ""), context, out);
  } else if (exchange->counter && exchange->counter->error()) {
    conclude(end.exchange, Outcome::kFailed, stream_failure(*exchange->counter), context, out);
  } else if (record.output_tokens == 0) {
    conclude(end.exchange, Outcome::kNoToken, "200 without a token", context, out);
  } else {
    conclude(end.exchange, Outcome::kOk, {}, context, out);
  }
  proceed(context, out);
}

void TrafficCore::on(const SessionRespond& answer, Context& context, Effects& out) {
  Exchange* exchange = find(answer.exchange);
  if (exchange == nullptr) return;
  exchange->record.status = answer.status;
  exchange->record.output_tokens += answer.tokens;
  if (answer.status != 200) {
    conclude(answer.exchange, Outcome::kFailed, http_failure(answer.status, answer.body), context,
             out);
  } else if (exchange->record.output_tokens == 0) {
    conclude(answer.exchange, Outcome::kNoToken, "200 without a token", context, out);
  } else {
    conclude(answer.exchange, Outcome::kOk, {}, context, out);
  }
  proceed(context, out);
}

void TrafficCore::on(const SessionCut& cut, Context& context, Effects& out) {
  Exchange* exchange = find(cut.exchange);
  if (exchange == nullptr) return;
  // A server that gives up on a stream says why and then cuts it.
  const bool told = exchange->counter && exchange->counter->error();
  conclude(cut.exchange, Outcome::kFailed,
           told ? stream_failure(*exchange->counter) : "the answer was cut", context, out);
  proceed(context, out);
}

void TrafficCore::on(const Down& down, Context& context, Effects& out) {
  const std::uint64_t* at = by_request_.find(down.ref);
  if (at == nullptr) {
    lose_target(down.ref, context, out);
  } else {
    conclude(*at, Outcome::kFailed, "the request ended without an answer", context, out);
  }
  proceed(context, out);
}

void TrafficCore::on(const Undeliverable& lost, Context& context, Effects& out) {
  // Only a request that was sent to a dead gateway matters; what was sent to a request that has
  // ended meanwhile does not.
  if (lost.kind != HttpArrived::info.kind) return;
  lose_target(lost.to, context, out);
  proceed(context, out);
}

void TrafficCore::lose_target(const ActorRef& target, Context& context, Effects& out) {
  if (target_ == target) target_ = ActorRef{};
  std::vector<std::uint64_t> unheard;
  for (const auto& [number, exchange] : exchanges_) {
    if (exchange.target == target && !exchange.request) unheard.push_back(number);
  }
  for (const std::uint64_t number : unheard) {
    conclude(number, Outcome::kFailed, "the gateway is gone", context, out);
  }
}

void TrafficCore::leave(std::uint64_t number, Outcome outcome, const char* why, Context& context,
                        Effects& out) {
  Exchange* exchange = find(number);
  TROUPE_ASSERT(exchange != nullptr, "an exchange's timers end with it");
  out.send(exchange->request ? exchange->request : exchange->target,
           make_message<SessionGone>(number));
  conclude(number, outcome, why, context, out);
}

void TrafficCore::conclude(std::uint64_t number, Outcome outcome, std::string error,
                           Context& context, Effects& out) {
  Exchange* const at = exchanges_.find(number);
  if (at == nullptr) return;  // a second terminal message
  Exchange exchange = std::move(*at);
  exchanges_.erase(number);
  if (exchange.ask.planned.cancel_after) out.cancel_timer({kCancel, number});
  if (args_.plan.timeout.value > 0) out.cancel_timer({kTimeout, number});
  if (exchange.ask.planned.slow_reader) out.cancel_timer({kReader, number});
  if (exchange.request) {
    by_request_.erase(exchange.request);
    out.unwatch(exchange.request);
  }
  if (!exchange.measured) return;
  exchange.record.outcome = outcome;
  exchange.record.error = std::move(error);
  exchange.record.ended = context.now;
  report_.record(exchange.record);
  if (outcome == Outcome::kOk) follow(exchange, context.now);
}

void TrafficCore::take_usage(Exchange& exchange) {
  if (!exchange.counter) return;
  ExchangeRecord& record = exchange.record;
  const ServerUsage& usage = exchange.counter->usage();
  if (usage.output_tokens) record.output_tokens = *usage.output_tokens;
  record.seen_prompt_tokens = usage.prompt_tokens;
  record.cached_tokens = usage.cached_tokens;
}

void TrafficCore::follow(Exchange& exchange, Time now) {
  if (exchange.ask.planned.last_turn) return;
  auto next = source_->after(exchange.ask.planned);
  if (!next) return;
  if (exchange.counter) exchange.ask.answers.push_back(exchange.counter->take_text());
  // A turn behind the run's end is kept, though never asked: until then its user is not free.
  const Time at = now + next->at;
  turns_.emplace(at, Ask{std::move(*next), std::move(exchange.ask.answers)});
}

}  // namespace troupe
