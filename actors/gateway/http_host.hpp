// The HTTP server as a foreign actor: exchanges become messages and messages become bytes.
//
// It opens one endpoint, the session of all exchanges (session_messages.hpp), watches the gateway,
// and answers by itself what must not wait for an actor: an owner that ended without a terminal
// message, a missing gateway, CORS preflights, wrong keys, the health paths (from the state that
// the gateway told last, or draining), and /metrics. It knows nothing of what requests mean.
//
// Threads: server callbacks come from io threads, messages from the turns of whoever sends them,
// many at a time: no answer waits for another's. Who owns what is in the stripes of
// host_exchanges.hpp. Metrics are rendered on a thread of their own: that takes milliseconds which
// no io thread has.
// Ownership: system and metrics outlive it; `attach` gives it the server, which goes before it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "actors/gateway/gateway_messages.hpp"
#include "actors/gateway/host_access.hpp"
#include "actors/gateway/host_access_book.hpp"
#include "actors/gateway/host_exchanges.hpp"
#include "runtime/actor/system.hpp"
#include "runtime/base/job_thread.hpp"
#include "runtime/http/server.hpp"

namespace troupe {

class HttpHost final : public http::Handler {
 public:
  struct Options {
    std::function<std::string()> metrics;  ///< renders the body of /metrics
    std::string openapi;                   ///< the body of /openapi.json
    http::CorsPolicy cors;                 ///< the server's
    KeyRing keys;                          ///< empty: no key is asked for
    AccessBook* access = nullptr;          ///< outlives it; null: nobody wants lines
  };
  HttpHost(ActorSystem& system, Options options);
  /// Requires: the system is shut down, so that no message is being taken.
  ~HttpHost() override;

  /// Requires: before the server starts.
  void attach(http::Server& server) { server_ = &server; }
  /// The endpoint: the node's `front`.
  const ActorRef& endpoint() const { return endpoint_; }
  /// From now on the node is not ready, whatever the gateway said.
  void set_draining() { draining_ = true; }
  /// The last scrape has ended: the server may go. Requires: it calls no more.
  void stop_scrapes() { scrapes_.reset(); }

  /// Credentials are refused before the body is read.
  std::optional<http::Response> on_headers(const http::Request& request) override;
  /// In the shape of the path's protocol.
  std::optional<http::Response> on_refused(const http::Request& head,
                                           const http::Refusal& refusal) override;
  void on_request(http::SessionId session, http::Request request) override;
  void on_drained(http::SessionId session, std::size_t bytes) override;
  void on_gone(http::SessionId session) override;
  void on_ended(const http::Ended& ended) override;

 private:
  ServingState state() const;
  /// True: answered here, on the io thread.
  bool answer_here(http::SessionId session, const http::Request& request);
  void scrape(http::SessionId session);
  void refuse_without_gateway(http::SessionId session, std::string_view path);
  /// Answers by itself what no actor will.
  void refuse(http::SessionId session, const SessionRespond& refusal);
  void receive(const Envelope& envelope);
  /// For the access log.
  void note(std::uint64_t exchange, const AnswerFacts& facts);
  void adopted(const SessionAdopted& adopted);
  void gateway_ended(const ActorRef& gateway);
  void lost(std::uint64_t number, const HostExchanges::Exchange& exchange);
  void gateway_started(const ActorRef& gateway);
  ActorSystem& system_;
  const Options options_;
  http::Server* server_ = nullptr;
  ActorRef endpoint_;
  HostExchanges book_;
  std::mutex mutex_;  ///< guards what follows
  ActorRef gateway_;
  std::atomic<ServingState> told_{ServingState::kStarting};
  std::atomic<bool> draining_{false};
  /// Scrapers come every few seconds, and a crowd of them is a fault.
  static constexpr std::size_t kScrapesMax = 16;
  std::unique_ptr<JobThread> scrapes_ = std::make_unique<JobThread>(kScrapesMax);
};

}  // namespace troupe
