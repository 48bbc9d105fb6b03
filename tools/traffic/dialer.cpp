#include "tools/traffic/dialer.hpp"

#include "actors/gateway/api_error.hpp"

namespace troupe {

namespace {

/// The body of an answer that never came, in the form of one that did.
std::string no_answer(const Error& error) {
  return error_body(ApiError{.status = 0,
                             .type = "no_answer",
                             .code = std::string(to_string(error.code)),
                             .message = error.message});
}

}  // namespace

/// One exchange on the wire. Used by the client's callbacks only, one at a time.
struct Dialer::Call {
  std::uint64_t exchange = 0;
  ActorRef session;
  int status = 0;  ///< 0: no headers yet
  std::string error_body;
};

Dialer::Dialer(ActorSystem& system, http::Url server)
    : system_(system), server_(std::move(server)), client_(std::make_unique<http::Client>()) {
  ref_ = system_.open_endpoint([this](const Envelope& envelope) { receive(envelope); });
}

Dialer::~Dialer() {
  system_.close_endpoint(ref_);
  client_.reset();
}

void Dialer::receive(const Envelope& envelope) {
  if (const auto* arrived = envelope.message.as<HttpArrived>()) return dial(*arrived);
  if (const auto* gone = envelope.message.as<SessionGone>()) hang_up(gone->exchange);
}

void Dialer::dial(const HttpArrived& arrived) {
  auto call = std::make_shared<Call>();
  call->exchange = arrived.exchange;
  call->session = arrived.session;
  http::ClientRequest request;
  request.host = server_.host;
  request.port = server_.port;
  request.method = arrived.method;
  request.path = arrived.path;
  request.headers = arrived.headers;
  request.body = arrived.body;
  request.total_timeout = seconds(24 * 3600);  // the traffic core has the client's patience
  // The book is locked until the call is in it: its end may come at once, on another thread.
  std::lock_guard lock(mutex_);
  calls_[arrived.exchange] = client_->start(std::move(request), callbacks(call));
}

void Dialer::hang_up(std::uint64_t exchange) {
  std::unique_lock lock(mutex_);
  const auto at = calls_.find(exchange);
  if (at == calls_.end()) return;
  const http::CallId call = at->second;
  calls_.erase(at);
  lock.unlock();
  client_->cancel(call);
}

void Dialer::forget(std::uint64_t exchange) {
  std::lock_guard lock(mutex_);
  calls_.erase(exchange);
}

template <class M>
void Dialer::answer(const Call& call, M message) {
  system_.send(ref_, call.session, make_message<M>(std::move(message)));
}

http::ClientCallbacks Dialer::callbacks(const std::shared_ptr<Call>& call) {
  http::ClientCallbacks on;
  on.on_headers = [this, call](int status, const http::Headers& headers) {
    call->status = status;
    if (status != 200) return;
    answer(*call, SessionBegin{call->exchange, std::uint16_t{200}, headers});
  };
  on.on_data = [this, call](std::string_view bytes) {
    if (call->status == 200) {
      answer(*call, SessionWrite{call->exchange, std::string(bytes), 0});
    } else if (call->error_body.size() + bytes.size() <= kErrorBodyMax) {
      call->error_body += bytes;
    }
  };
  on.on_end = [this, call] {
    forget(call->exchange);
    if (call->status == 200) return answer(*call, SessionEnd{call->exchange});
    answer(*call, SessionRespond{call->exchange,
                                 static_cast<std::uint16_t>(call->status),
                                 {},
                                 std::move(call->error_body),
                                 0});
  };
  on.on_error = [this, call](const Error& error) {
    forget(call->exchange);
    if (call->status != 0) return answer(*call, SessionCut{call->exchange});
    answer(*call, SessionRespond{call->exchange, 0, {}, no_answer(error), 0});
  };
  return on;
}

}  // namespace troupe
