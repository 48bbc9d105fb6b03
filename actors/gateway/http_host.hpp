// The HTTP server as a foreign actor: exchanges become messages and messages become bytes.
//
// It opens one endpoint, the session of all exchanges (session_messages.hpp), watches whoever owns
// an exchange, and answers by itself when an owner ends without a terminal message, when no gateway
// lives, and for /metrics. It knows nothing of what requests mean.
//
// Threads: server callbacks come from io threads, messages from scheduler threads; one mutex keeps
// the books and is never held while calling the server or the system.
// Ownership: server, system and metrics outlive it except that `attach` gives it the server.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "actors/gateway/session_messages.hpp"
#include "runtime/actor/system.hpp"
#include "runtime/http/server.hpp"

namespace troupe {

class HttpHost final : public http::Handler {
 public:
  /// `metrics` renders the body of /metrics.
  HttpHost(ActorSystem& system, std::function<std::string()> metrics);
  ~HttpHost() override;

  /// Requires: before the server starts.
  void attach(http::Server& server) { server_ = &server; }
  /// The endpoint: the node's `front`.
  const ActorRef& endpoint() const { return endpoint_; }

  void on_request(http::SessionId session, http::Request request) override;
  void on_drained(http::SessionId session, std::size_t bytes) override;
  void on_gone(http::SessionId session) override;

 private:
  struct Exchange {
    ActorRef owner;    ///< the gateway, then the request
    ActorRef streams;  ///< nobody before adoption
    bool begun = false;
    std::uint64_t reported = 0;  ///< bytes last told to the streams
  };

  void receive(const Envelope& envelope);
  void adopted(const SessionAdopted& adopted);
  void owner_ended(const ActorRef& owner);
  void gateway_started(const ActorRef& gateway);
  /// Takes the exchange out of the books; nothing if it ended before.
  bool finish(std::uint64_t exchange);

  ActorSystem& system_;
  std::function<std::string()> metrics_;
  http::Server* server_ = nullptr;
  ActorRef endpoint_;
  std::mutex mutex_;
  std::map<std::uint64_t, Exchange> exchanges_;
  ActorRef gateway_;
};

}  // namespace troupe
