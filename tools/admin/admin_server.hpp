// The admin port of a node: what runs here, and the few things that an operator may do to it.
//
//   GET  /admin/actors            every actor's counters; nobody is asked, a stuck one shows too
//   GET  /admin/actors/ID         one actor: counters and what it says of itself (waits up to 1 s).
//                                 ID: the beginning of its id, its kind if it is the only one, or
//                                 its request's id as below
//   GET  /admin/nodes             this node and the nodes it is linked with
//   POST /admin/requests/ID/cancel  202: it ends; 404: nothing of that name is under way. ID: its
//                                 chatcmpl-, resp_ or msg_ id, its number, or its actor's id
//   POST /admin/drain             the node refuses new requests, finishes the running ones, ends
//   GET  /metrics                 as on the HTTP port, which a node without a gateway does not have
//
// It listens on loopback only. With a token every call needs `authorization: Bearer TOKEN`.
// Threads: those of the HTTP server; what waits for actors does so on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/actor/system.hpp"
#include "runtime/base/job_thread.hpp"
#include "runtime/http/server.hpp"

namespace troupe {

struct AdminPeer {
  ActorRef root;
  std::string address;
  std::string state;  ///< "up", "silent", "lost 12 s ago"
  std::string roles;
  std::string about;
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
  AdminServer(std::unique_ptr<http::Server> bound, ActorSystem& system, ActorRef root,
              AdminOptions options);
  http::Response answer(const http::Request& request);
  bool allowed(const http::Request& request) const;
  std::string actors_body() const;
  std::string nodes_body() const;
  void show(http::SessionId session, const std::string& id);
  void cancel(http::SessionId session, const std::string& text);
  http::Response cancel_at(const ActorRef& gateway, RequestId id, const std::string& text);
  /// Runs a question on the thread that may wait; too many are a 503.
  void ask(http::SessionId session, std::function<void()> question);

  ActorSystem& system_;
  const ActorRef root_;
  const AdminOptions options_;
  std::unique_ptr<JobThread> questions_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace troupe
