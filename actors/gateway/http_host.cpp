#include "actors/gateway/http_host.hpp"

#include <ctime>

#include "actors/gateway/api_error.hpp"
#include "actors/node/node_messages.hpp"

namespace troupe {

namespace {

/// Drained bytes are told in steps: a quarter of the least stream buffer that may be configured.
constexpr std::uint64_t kDrainStep = 32u << 10;

http::SessionId session_of(std::uint64_t exchange) {
  return http::SessionId(exchange);
}

http::Response to_http(const SessionRespond& respond) {
  return {respond.status, respond.headers, respond.body};
}

}  // namespace

HttpHost::HttpHost(ActorSystem& system, std::function<std::string()> metrics)
    : system_(system), metrics_(std::move(metrics)) {
  endpoint_ = system_.open_endpoint([this](const Envelope& envelope) { receive(envelope); });
}

HttpHost::~HttpHost() {
  system_.close_endpoint(endpoint_);
}

void HttpHost::on_request(http::SessionId session, http::Request request) {
  if (request.path == "/metrics") {
    server_->respond(session, {200, {{"content-type", "text/plain; version=0.0.4"}}, metrics_()});
    return;
  }
  HttpArrived arrived;
  arrived.exchange = session.value;
  arrived.session = endpoint_;
  arrived.method = std::move(request.method);
  arrived.path = std::move(request.path);
  arrived.headers = std::move(request.headers);
  arrived.body = std::move(request.body);
  arrived.arrived = system_.now();
  arrived.unix_seconds = std::time(nullptr);
  ActorRef gateway;
  {
    const std::lock_guard lock(mutex_);
    gateway = gateway_;
    if (gateway) exchanges_[session.value] = Exchange{gateway, {}, false, 0};
  }
  if (!gateway) {
    server_->respond(
        session, to_http(error_response(session.value, recipe::Protocol::kChat, Code::kUnavailable,
                                        "the gateway is starting; try again")));
    return;
  }
  system_.send(endpoint_, gateway, make_message<HttpArrived>(std::move(arrived)));
}

void HttpHost::on_drained(http::SessionId session, std::size_t bytes) {
  ActorRef streams;
  {
    const std::lock_guard lock(mutex_);
    const auto at = exchanges_.find(session.value);
    if (at == exchanges_.end() || !at->second.streams) return;
    if (bytes < at->second.reported + kDrainStep) return;
    at->second.reported = bytes;
    streams = at->second.streams;
  }
  system_.send(endpoint_, streams, make_message<SessionDrained>(session.value, bytes));
}

void HttpHost::on_gone(http::SessionId session) {
  ActorRef owner;
  bool adopted = false;
  {
    const std::lock_guard lock(mutex_);
    const auto at = exchanges_.find(session.value);
    if (at == exchanges_.end()) return;
    owner = at->second.owner;
    adopted = static_cast<bool>(at->second.streams);
    exchanges_.erase(at);
  }
  if (adopted) system_.unwatch(endpoint_, owner);
  system_.send(endpoint_, owner, make_message<SessionGone>(session.value));
}

bool HttpHost::finish(std::uint64_t exchange) {
  ActorRef owner;
  bool adopted = false;
  {
    const std::lock_guard lock(mutex_);
    const auto at = exchanges_.find(exchange);
    if (at == exchanges_.end()) return false;
    owner = at->second.owner;
    adopted = static_cast<bool>(at->second.streams);
    exchanges_.erase(at);
  }
  if (adopted) system_.unwatch(endpoint_, owner);
  return true;
}

void HttpHost::receive(const Envelope& envelope) {
  const Message& message = envelope.message;
  if (const auto* write = message.as<SessionWrite>()) {
    server_->write(session_of(write->exchange), write->bytes);
  } else if (const auto* adoption = message.as<SessionAdopted>()) {
    adopted(*adoption);
  } else if (const auto* begin = message.as<SessionBegin>()) {
    {
      const std::lock_guard lock(mutex_);
      const auto at = exchanges_.find(begin->exchange);
      if (at != exchanges_.end()) at->second.begun = true;
    }
    server_->begin_stream(session_of(begin->exchange), begin->status, begin->headers);
  } else if (const auto* respond = message.as<SessionRespond>()) {
    if (finish(respond->exchange)) {
      server_->respond(session_of(respond->exchange), to_http(*respond));
    }
  } else if (const auto* end = message.as<SessionEnd>()) {
    if (finish(end->exchange)) server_->end(session_of(end->exchange));
  } else if (const auto* cut = message.as<SessionCut>()) {
    if (finish(cut->exchange)) server_->cut(session_of(cut->exchange));
  } else if (const auto* down = message.as<Down>()) {
    owner_ended(down->ref);
  } else if (const auto* started = message.as<GatewayStarted>()) {
    gateway_started(started->gateway);
  } else if (const auto* lost = message.as<Undeliverable>()) {
    if (lost->kind == HttpArrived::info.kind) owner_ended(lost->to);
  }
}

void HttpHost::adopted(const SessionAdopted& adoption) {
  bool known = false;
  {
    const std::lock_guard lock(mutex_);
    const auto at = exchanges_.find(adoption.exchange);
    known = at != exchanges_.end();
    if (known) {
      at->second.owner = adoption.request;
      at->second.streams = adoption.streams;
    }
  }
  if (known) {
    system_.watch(endpoint_, adoption.request);
  } else {
    // The client left before the request was born.
    system_.send(endpoint_, adoption.request, make_message<SessionGone>(adoption.exchange));
  }
}

void HttpHost::owner_ended(const ActorRef& owner) {
  std::map<std::uint64_t, Exchange> orphans;
  {
    const std::lock_guard lock(mutex_);
    for (auto at = exchanges_.begin(); at != exchanges_.end();) {
      if (at->second.owner == owner) {
        orphans.insert(exchanges_.extract(at++));
      } else {
        ++at;
      }
    }
    if (gateway_ == owner) gateway_ = ActorRef{};
  }
  for (const auto& [exchange, orphan] : orphans) {
    if (orphan.begun) {
      server_->cut(session_of(exchange));
    } else {
      server_->respond(session_of(exchange),
                       to_http(error_response(exchange, recipe::Protocol::kChat, Code::kLost,
                                              "the request was lost inside of the server")));
    }
  }
}

void HttpHost::gateway_started(const ActorRef& gateway) {
  {
    const std::lock_guard lock(mutex_);
    gateway_ = gateway;
  }
  system_.watch(endpoint_, gateway);
}

}  // namespace troupe
