#include "actors/gateway/gateway_core.hpp"

#include <algorithm>

#include "actors/gateway/answer_id.hpp"
#include "actors/gateway/api_error.hpp"
#include "actors/gateway/health.hpp"
#include "actors/gateway/model_list.hpp"
#include "actors/gateway/request_timeout.hpp"
#include "runtime/base/rng.hpp"

namespace troupe {

namespace {

/// Questions to the store of responses at one time: they are short, but bodies may be long.
constexpr std::size_t kQuestionsMax = 256;

ApiError no_such_path(const HttpArrived& arrived, bool known) {
  ApiError error;
  error.status = known ? 405 : 404;
  error.type = "invalid_request_error";
  error.code = known ? "method_not_allowed" : "not_found";
  error.message = (known ? "the method does not fit the path: " : "there is no ") + arrived.method +
                  " " + arrived.path.substr(0, 200);
  return error;
}

}  // namespace

void GatewayCore::on(const Started&, Context&, Effects& out) {
  out.info("gateway_started", "at most " + std::to_string(args_.requests_max) + " requests");
  tell_health(out);
}

void GatewayCore::on(const HttpArrived& arrived, Context& context, Effects& out) {
  const bool get = arrived.method == "GET" || arrived.method == "HEAD";
  const std::string& path = arrived.path;
  if (operation_of(path) && arrived.method == "POST") return admit(arrived, context, out);
  if (const auto response = response_of(path)) {
    const bool drop = arrived.method == "DELETE" && !response->input_items;
    if (get || drop) return ask_store(arrived, context, out);
  }
  const auto page = page_of(path);
  if (page && get) return answer_page(arrived, *page, out);
  if (const auto health = health_answer(path, state()); get && health) {
    return answer(arrived, health->status, health->body, out);
  }
  const char* methods = methods_of(path);
  if (methods == nullptr || arrived.method != "OPTIONS") {
    return refuse(arrived, no_such_path(arrived, methods != nullptr), out);
  }
  out.send(arrived.session, make_message<SessionRespond>(arrived.exchange, std::uint16_t{204},
                                                         HeaderList{{"allow", methods}}, ""));
}

void GatewayCore::answer_page(const HttpArrived& arrived, Page page, Effects& out) {
  switch (page) {
    case Page::kModels:
      return answer(arrived, 200, models_body(ranks_.models(), protocol_of(arrived)), out);
    case Page::kModel:
      return answer_model(arrived, out);
    case Page::kVersion:
      return answer(arrived, 200, R"({"version":")" + args_.version + R"("})", out);
    case Page::kLoad:
      return answer(arrived, 200, R"({"server_load":)" + std::to_string(requests()) + "}", out);
  }
}

void GatewayCore::answer_model(const HttpArrived& arrived, Effects& out) {
  const auto name = model_of(arrived.path);
  if (!name) {
    ApiError error{400, "invalid_request_error", "model", "invalid_request_error",
                   "the path has a broken percent escape"};
    return refuse(arrived, error, out);
  }
  const auto model = ranks_.model(*name);
  if (!model) return refuse(arrived, model_not_found(*name), out);
  answer(arrived, 200, model_body(*model, protocol_of(arrived)), out);
}

void GatewayCore::answer(const HttpArrived& arrived, std::uint16_t status, std::string body,
                         Effects& out) {
  HeaderList headers{{"content-type", "application/json"}};
  if (status == 503) headers.emplace_back("retry-after", "1");
  out.send(arrived.session, make_message<SessionRespond>(arrived.exchange, status,
                                                         std::move(headers), std::move(body)));
}

ServingState GatewayCore::state() const {
  if (draining_) return ServingState::kDraining;
  return ranks_.size() == 0 ? ServingState::kNoRank : ServingState::kServing;
}

void GatewayCore::tell_health(Effects& out) {
  if (!args_.front || state() == told_) return;
  told_ = state();
  out.send(args_.front, make_message<GatewayHealth>(told_));
}

void GatewayCore::refuse(const HttpArrived& arrived, const ApiError& error, Effects& out) {
  SessionRespond answer = error_response(arrived.exchange, protocol_of(arrived), error);
  if (error.status == 405) answer.headers.emplace_back("allow", methods_of(arrived.path));
  out.send(arrived.session, make_message<SessionRespond>(std::move(answer)));
}

void GatewayCore::refuse(const HttpArrived& arrived, Code code, std::string_view message,
                         Effects& out) {
  out.count("troupe_requests_refused_total", 1, std::string(to_string(code)));
  out.send(arrived.session,
           make_message<SessionRespond>(error_response(arrived.exchange, protocol_of(arrived), code,
                                                       std::string(message), args_.retry_after)));
}

RequestId GatewayCore::next_id(const ActorRef& self) {
  constexpr std::uint64_t kPrefixBits = 0x1fffff;
  const std::uint64_t life = mix64(mix64(self.node.value, self.incarnation), self.life);
  return RequestId((life & kPrefixBits) << 32 | ++next_request_);
}

std::string GatewayCore::closed(const std::string& tenant) const {
  if (draining_) return "the server is draining; try another";
  if (ranks_.size() == 0) return "no rank is up; try again";
  if (!streams_) return "the stream table starts anew; try again";
  const std::uint64_t rows = requests() + more_rows_;
  if (rows < admission_.room(tenant, args_.requests_max)) return "";
  return "the server is overloaded: " + std::to_string(rows) + " requests are under way; try again";
}

void GatewayCore::admit(const HttpArrived& arrived, Context& context, Effects& out) {
  const std::string reason = closed(arrived.tenant);
  if (!reason.empty()) return refuse(arrived, Code::kUnavailable, reason, out);
  const auto timeout = request_timeout(arrived.headers, args_.request_timeout);
  if (!timeout.ok()) return refuse(arrived, timeout.error().code, timeout.error().message, out);
  const recipe::Protocol protocol = protocol_of(arrived.path);
  const Admission::Verdict verdict = admission_.admit(arrived.tenant, context.now);
  if (verdict.outcome != Admission::Outcome::kAdmitted) {
    out.count("troupe_requests_refused_total", 1, "rate_limit");
    out.count("troupe_tenant_refused_total", 1, arrived.tenant);
    return out.send(arrived.session,
                    make_message<SessionRespond>(too_many_requests(
                        arrived.exchange, verdict, protocol, arrived.unix_seconds)));
  }
  if (!arrived.tenant.empty()) out.count("troupe_tenant_requests_total", 1, arrived.tenant);
  begin(arrived, {rate_headers(verdict, protocol, arrived.unix_seconds), true, *timeout}, context,
        out);
  out.gauge("troupe_requests_live", static_cast<double>(requests()));
}

void GatewayCore::ask_store(const HttpArrived& arrived, Context& context, Effects& out) {
  if (draining_) {
    return refuse(arrived, Code::kUnavailable, "the server is draining; try another", out);
  }
  if (questions_ >= kQuestionsMax) {
    return refuse(arrived, Code::kUnavailable,
                  "too many questions about kept responses at a time; try again", out);
  }
  const auto timeout = request_timeout(arrived.headers, args_.request_timeout);
  if (!timeout.ok()) return refuse(arrived, timeout.error().code, timeout.error().message, out);
  ++questions_;
  begin(arrived, {{}, false, *timeout}, context, out);
}

void GatewayCore::begin(const HttpArrived& arrived, Terms terms, Context& context, Effects& out) {
  const recipe::Protocol protocol = protocol_of(arrived.path);
  const RequestId id = next_id(context.self);
  if (!arrived.simulated) {
    const bool messages = protocol == recipe::Protocol::kMessages;
    terms.headers.emplace_back(messages ? "request-id" : "x-request-id", answer_id(protocol, id));
  }
  RequestCore::Args args;
  args.id = id;
  args.arrived = context.shared<HttpArrived>();
  args.headers = std::move(terms.headers);
  args.streams = streams_;
  args.store = store_;
  args.timeout = terms.timeout;
  args.preparer = args_.preparer;
  const ActorRef request = context.spawn<RequestCore>(out, std::move(args));
  live_.insert(request,
               {id, arrived.session, arrived.exchange, arrived.tenant, {}, 0, terms.counts});
}

bool GatewayCore::has_room_for(std::uint32_t rows, const std::string& tenant) const {
  const std::uint64_t room = admission_.room(tenant, args_.requests_max);
  return rows <= 1 || requests() + more_rows_ + rows - 1 <= room;
}

Error GatewayCore::no_room_for(std::uint32_t rows) const {
  if (rows > args_.requests_max) {
    return {Code::kInvalid, "the request asks for " + std::to_string(rows) +
                                " answers at once; this server gives at most " +
                                std::to_string(args_.requests_max)};
  }
  return {Code::kUnavailable, "the server is overloaded: there is no room for " +
                                  std::to_string(rows) + " answers at once; try again"};
}

void GatewayCore::on(const PlaceRequest& place, Context& context, Effects& out) {
  Live* const live = live_.find(context.from);
  if (live == nullptr) return;  // it has ended meanwhile
  auto placed = has_room_for(place.rows, live->tenant)
                    ? ranks_.place(place.model, place.rows)
                    : Result<RankTable::Place>(no_room_for(place.rows));
  if (!placed.ok()) {
    return out.send(context.from, make_message<NotPlaced>(place.request, placed.error().code,
                                                          placed.error().message));
  }
  Placed answer;
  answer.request = place.request;
  answer.rank = placed->rank;
  live->place = *placed;
  live->more_rows = std::max(place.rows, 1u) - 1;
  more_rows_ += live->more_rows;
  for (std::uint32_t i = 0; i < live->more_rows; ++i) {
    answer.more_rows.push_back(next_id(context.self));
  }
  out.send(context.from, make_message<Placed>(std::move(answer)));
}

void GatewayCore::on(const Down& down, Context&, Effects& out) {
  if (down.ref == streams_) {
    streams_ = ActorRef{};
    return;
  }
  if (down.ref == store_) {
    store_ = ActorRef{};
    return;
  }
  const Live* const found = live_.find(down.ref);
  if (found == nullptr) {
    ranks_.leave(down.ref);
    return tell_health(out);
  }
  const Live& live = *found;
  if (args_.front && down.reason != EndReason::kStopped) {
    out.send(args_.front, make_message<ExchangeLost>(live.exchange));
  }
  if (live.counts) {
    admission_.release(live.tenant);
  } else {
    --questions_;
  }
  ranks_.release(live.place);
  more_rows_ -= live.more_rows;
  live_.erase(down.ref);
  out.gauge("troupe_requests_live", static_cast<double>(requests()));
  if (draining_ && live_.empty()) out.stop("drained");
}

void GatewayCore::on(const SessionGone& gone, Context& context, Effects& out) {
  // The session had not been adopted yet when its client left.
  for (const auto& [request, live] : live_) {
    if (live.session == context.from && live.exchange == gone.exchange) {
      return out.send(request, make_message<SessionGone>(gone.exchange));
    }
  }
}

void GatewayCore::on(const RankJoined& joined, Context&, Effects& out) {
  ranks_.join(joined);
  out.watch(joined.rank);
  out.info("rank_joined", to_string(joined.rank));
  tell_health(out);
}

void GatewayCore::on(const RankLeft& left, Context&, Effects& out) {
  ranks_.leave(left.rank);
  out.unwatch(left.rank);
  tell_health(out);
}

void GatewayCore::on(const StreamsStarted& started, Context&, Effects& out) {
  streams_ = started.streams;
  out.watch(streams_);
}

void GatewayCore::on(const ResponsesStarted& started, Context&, Effects& out) {
  store_ = started.store;
  out.watch(store_);
}

void GatewayCore::on(const CancelRequest& cancel, Context& context, Effects& out) {
  // An operator's word: rare enough for a look at all.
  bool found = false;
  for (const auto& [request, live] : live_) {
    if (live.id != cancel.request) continue;
    found = true;
    out.send(request, make_message<CancelRequest>(cancel));
  }
  if (context.from) out.send(context.from, make_message<CancelAnswered>(cancel.request, found));
}

void GatewayCore::on(const Undeliverable&, Context&, Effects&) {
  // A session that has ended; its request hears of it.
}

void GatewayCore::on(const Drain& drain, Context&, Effects& out) {
  draining_ = true;
  tell_health(out);
  if (drain.within <= Duration()) {
    for (const auto& [request, live] : live_) {
      out.send(request, make_message<Drain>(Duration()));
    }
  }
  if (live_.empty()) out.stop("drained");
}

const char* GatewayCore::phase() const {
  if (draining_) return "draining";
  return ranks_.size() == 0 ? "no rank" : "serving";
}

std::string GatewayCore::describe() const {
  return "requests=" + std::to_string(requests()) + "/" + std::to_string(args_.requests_max) +
         " ranks=" + std::to_string(ranks_.size());
}

}  // namespace troupe
