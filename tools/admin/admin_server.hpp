// The admin port of a node: what runs here, and the few things that an operator may do to it.
//
//   GET  /admin/actors            every actor's counters; nobody is asked, a stuck one shows too
//   GET  /admin/actors/ID         one actor: counters and what it says of itself (waits up to 1 s)
//   GET  /admin/nodes             this node and the nodes it is linked with
//   POST /admin/requests/ID/cancel  202 says that the gateway was told; it knows what still runs
//   POST /admin/drain             the node refuses new requests, finishes the running ones, and
//   ends
//   GET  /metrics                 as on the HTTP port, which a node without a gateway does not have
//
// It listens on loopback only. With a token every call needs `authorization: Bearer TOKEN`.
// Threads: those of the HTTP server; describing waits on a thread of its own, one at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/actor/system.hpp"
#include "runtime/http/server.hpp"

namespace troupe {

struct AdminPeer {
  ActorRef root;
  std::string address;
  std::string state;
};

struct AdminOptions {
  std::string token;  ///< empty: none is asked for
  std::string about;  ///< what this node serves
  std::string roles;
  std::function<std::vector<AdminPeer>()> peers;  ///< may be empty
  std::function<void()> drain;                    ///< must not block
  std::function<std::string()> metrics;           ///< the body of /metrics
};

class AdminServer final : public http::Handler {
 public:
  /// Takes the port, early: a used one is refused before the node is built.
  static Result<std::unique_ptr<http::Server>> bind(std::uint16_t port);
  static Result<std::unique_ptr<AdminServer>> start(std::unique_ptr<http::Server> bound,
                                                    ActorSystem& system, ActorRef root,
                                                    AdminOptions options);
  ~AdminServer() override;

  std::uint16_t port() const { return server_->port(); }
  void stop();

  void on_request(http::SessionId session, http::Request request) override;
  void on_drained(http::SessionId, std::size_t) override {}
  void on_gone(http::SessionId) override {}

 private:
  class Describer;
  AdminServer(std::unique_ptr<http::Server> bound, ActorSystem& system, ActorRef root,
              AdminOptions options);
  http::Response answer(const http::Request& request);
  bool allowed(const http::Request& request) const;
  std::string actors_body() const;
  std::string nodes_body() const;
  void show(http::SessionId session, const std::string& id);
  http::Response cancel(const std::string& request_id);

  ActorSystem& system_;
  const ActorRef root_;
  const AdminOptions options_;
  std::unique_ptr<Describer> describer_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace troupe
