#include "actors/gateway/http_host.hpp"

#include <ctime>

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/health.hpp"
#include "actors/gateway/routes.hpp"
#include "actors/node/node_messages.hpp"

namespace troupe {

namespace {

http::SessionId session_of(std::uint64_t exchange) {
  return http::SessionId(exchange);
}

http::Response to_http(const SessionRespond& respond) {
  return {respond.status, respond.headers, respond.body};
}

HeaderList joined(HeaderList headers, const HeaderList& more) {
  headers.insert(headers.end(), more.begin(), more.end());
  return headers;
}

}  // namespace

HttpHost::HttpHost(ActorSystem& system, Options options)
    : system_(system), options_(std::move(options)) {
  endpoint_ = system_.open_direct_endpoint([this](const Envelope& envelope) { receive(envelope); });
}

HttpHost::~HttpHost() {
  system_.close_endpoint(endpoint_);
}

ServingState HttpHost::state() const {
  return draining_ ? ServingState::kDraining : told_.load();
}

bool HttpHost::answer_here(http::SessionId session, const http::Request& request) {
  if (auto preflight = http::preflight_answer(options_.cors, request)) {
    server_->respond(session, std::move(*preflight));
    return true;
  }
  if (request.method != "GET" && request.method != "HEAD") return false;
  if (request.path == kMetricsPath) return scrape(session), true;
  if (request.path == kOpenapiPath) {
    server_->respond(session, {200, {{"content-type", "application/json"}}, options_.openapi});
    return true;
  }
  auto health = health_answer(request.path, state());
  if (!health) return false;
  http::Headers headers{{"content-type", "application/json"}};
  if (health->status == 503) headers.emplace_back("retry-after", "1");
  server_->respond(session, {health->status, std::move(headers), std::move(health->body)});
  return true;
}

void HttpHost::scrape(http::SessionId session) {
  const bool taken = scrapes_->run([this, session] {
    server_->respond(session,
                     {200, {{"content-type", "text/plain; version=0.0.4"}}, options_.metrics()});
  });
  if (taken) return;
  refuse(session, error_response(session.value, recipe::Protocol::kChat, Code::kUnavailable,
                                 "too many scrapes at a time; try again"));
}

std::optional<http::Response> HttpHost::on_headers(const http::Request& request) {
  const Access access = access_of(options_.keys, request);
  if (!access.refusal) return std::nullopt;
  return to_http(*access.refusal);
}

std::optional<http::Response> HttpHost::on_refused(const http::Request& head,
                                                   const http::Refusal& refusal) {
  ApiError error;
  error.status = refusal.status;
  error.type = refusal.status == 503 ? "server_error" : "invalid_request_error";
  error.code = refusal.code;
  error.message = refusal.message;
  http::Response response = to_http(error_response(0, protocol_of(head.path), error));
  for (const auto& [name, value] : refusal.headers) {
    if (name != "retry-after") response.headers.emplace_back(name, value);
  }
  return response;
}

void HttpHost::on_request(http::SessionId session, http::Request request) {
  Access access = access_of(options_.keys, request, session.value);
  if (options_.access) options_.access->open(session, request, access.tenant, system_.now());
  if (answer_here(session, request)) return;
  if (access.refusal) return refuse(session, *access.refusal);
  HttpArrived arrived;
  arrived.exchange = session.value;
  arrived.session = endpoint_;
  arrived.method = std::move(request.method);
  arrived.path = std::move(request.path);
  arrived.query = std::move(request.query);
  arrived.headers = std::move(request.headers);
  arrived.body = std::move(request.body);
  arrived.body_hold = std::move(request.hold);
  arrived.arrived = system_.now();
  arrived.unix_seconds = std::time(nullptr);
  arrived.tenant = std::move(access.tenant);
  arrived.trace = request.trace;
  const auto state = http::find_header(arrived.headers, "tracestate");
  if (request.trace.parent != 0 && is_tracestate(state)) arrived.tracestate = state;
  const ActorRef gateway = book_.open(session.value, protocol_of(arrived));
  if (!gateway) return refuse_without_gateway(session, arrived.path);
  system_.send(endpoint_, gateway, make_message<HttpArrived>(std::move(arrived)));
}

void HttpHost::refuse_without_gateway(http::SessionId session, std::string_view path) {
  refuse(session, error_response(session.value, protocol_of(path), Code::kUnavailable,
                                 draining_ ? "the server is draining; try another"
                                           : "the gateway is starting; try again"));
}

void HttpHost::refuse(http::SessionId session, const SessionRespond& refusal) {
  note(session.value, refusal.facts);
  server_->respond(session, to_http(refusal));
}

void HttpHost::note(std::uint64_t exchange, const AnswerFacts& facts) {
  if (options_.access) options_.access->note(exchange, facts);
}

void HttpHost::on_ended(const http::Ended& ended) {
  if (!options_.access) return;
  if (ended.head == nullptr) return options_.access->ended(ended, "", system_.now());
  const Access access = access_of(options_.keys, *ended.head);
  http::Ended told = ended;
  if (told.code.empty() && access.refusal) told.code = access.refusal->facts.code;
  options_.access->ended(told, access.tenant, system_.now());
}

void HttpHost::on_drained(http::SessionId session, std::size_t bytes) {
  const auto [streams, row] = book_.drained(session.value, bytes);
  if (!streams) return;
  system_.send(endpoint_, streams, make_message<SessionDrained>(row, session.value, bytes));
}

void HttpHost::on_gone(http::SessionId session) {
  const auto exchange = book_.take(session.value);
  if (!exchange) return;
  system_.send(endpoint_, exchange->owner, make_message<SessionGone>(session.value));
}

void HttpHost::receive(const Envelope& envelope) {
  const Message& message = envelope.message;
  if (const auto* write = message.as<SessionWrite>()) {
    if (options_.access) options_.access->answer_text(write->exchange, write->bytes);
    server_->write(session_of(write->exchange), write->bytes);
  } else if (const auto* adoption = message.as<SessionAdopted>()) {
    adopted(*adoption);
  } else if (const auto* begin = message.as<SessionBegin>()) {
    server_->begin_stream(session_of(begin->exchange), begin->status,
                          joined(begin->headers, book_.begin(begin->exchange)));
  } else if (const auto* respond = message.as<SessionRespond>()) {
    note(respond->exchange, respond->facts);
    if (options_.access) options_.access->answer_text(respond->exchange, respond->body);
    if (const auto exchange = book_.take(respond->exchange)) {
      http::Response response = to_http(*respond);
      response.headers = joined(std::move(response.headers), exchange->headers);
      server_->respond(session_of(respond->exchange), std::move(response));
    }
  } else if (const auto* end = message.as<SessionEnd>()) {
    note(end->exchange, end->facts);
    if (book_.take(end->exchange)) server_->end(session_of(end->exchange));
  } else if (const auto* cut = message.as<SessionCut>()) {
    note(cut->exchange, cut->facts);
    if (book_.take(cut->exchange)) server_->cut(session_of(cut->exchange));
  } else if (const auto* orphan = message.as<ExchangeLost>()) {
    if (const auto exchange = book_.take(orphan->exchange)) lost(orphan->exchange, *exchange);
  } else if (const auto* down = message.as<Down>()) {
    gateway_ended(down->ref);
  } else if (const auto* started = message.as<GatewayStarted>()) {
    gateway_started(started->gateway);
  } else if (const auto* health = message.as<GatewayHealth>()) {
    told_ = health->state;
  } else if (const auto* undelivered = message.as<Undeliverable>()) {
    if (undelivered->kind == HttpArrived::info.kind) gateway_ended(undelivered->to);
  }
}

void HttpHost::adopted(const SessionAdopted& adoption) {
  if (book_.adopt(adoption)) return;
  // The client left before the request was born.
  system_.send(endpoint_, adoption.request, make_message<SessionGone>(adoption.exchange));
}

void HttpHost::gateway_ended(const ActorRef& gateway) {
  {
    const std::lock_guard lock(mutex_);
    if (gateway == gateway_) told_ = ServingState::kStarting;
  }
  for (const auto& [number, exchange] : book_.take_of(gateway)) lost(number, exchange);
}

void HttpHost::lost(std::uint64_t number, const HostExchanges::Exchange& exchange) {
  if (exchange.begun) {
    AnswerFacts facts;
    facts.ending = AnswerEnding::kError;
    facts.code = to_string(Code::kLost);
    note(number, facts);
    return server_->cut(session_of(number));
  }
  refuse(session_of(number), error_response(number, exchange.protocol, Code::kLost,
                                            "the request was lost inside of the server"));
}

void HttpHost::gateway_started(const ActorRef& gateway) {
  {
    const std::lock_guard lock(mutex_);
    gateway_ = gateway;
  }
  book_.set_gateway(gateway);
  system_.watch(endpoint_, gateway);
}

}  // namespace troupe
