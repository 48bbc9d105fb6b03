// A node of this process: devices, actors, HTTP, metrics, from a configuration to an ordered stop.
//
// Used by `troupe node`, by `troupe chat` when it starts a node of its own, and by tests.
//
// Start: ports are taken (a used one fails before a model is loaded) → engines → link → actor
// system → HTTP → root actor → link joins → admin. Stop: HTTP refuses, the root drains, actors end
// (children before parents), the link says goodbye, streams close, HTTP closes; every stage has a
// deadline, so that stop always ends.
//
// Threads: start, stop and the destructor from one thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "actors/gateway/http_host.hpp"
#include "runtime/cluster/link.hpp"
#include "runtime/observe/access_writer.hpp"
#include "runtime/observe/metrics.hpp"
#include "tools/admin/admin_server.hpp"
#include "tools/config/node_config.hpp"
#include "tools/node/engines.hpp"

namespace troupe {

class ServingNode {
 public:
  static Result<std::unique_ptr<ServingNode>> start(const config::NodeConfig& config);
  ~ServingNode();

  std::uint16_t port() const;  ///< 0 without a gateway
  std::uint16_t admin_port() const { return admin_ ? admin_->port() : std::uint16_t{0}; }
  /// Where nodes may join; 0: nowhere.
  std::uint16_t cluster_port() const { return link_ ? link_->port() : std::uint16_t{0}; }
  const std::string& about() const { return engines_.about; }
  /// False: the root actor has ended by itself, by a drain or because a child crashed again and
  /// again.
  bool running() const;
  /// True: the operator asked for it (troupe admin drain).
  bool drained() const { return drain_asked_; }
  ActorSystem& system() { return *system_; }
  const ActorRef& root() const { return root_; }
  /// Reads the TLS certificate and opens the access log anew, as their files are now. What is wrong
  /// with one keeps what there was, and goes to the log.
  void reload();
  /// Drains for at most `drain`, then ends what is left. False: something hangs and was left
  /// behind; it uses this node still, so that the process must end without the destructor.
  [[nodiscard]] bool stop(Duration drain);

 private:
  class Notes;
  explicit ServingNode(const config::NodeConfig& config);
  Status build();
  Status take_ports();
  Status open_http();
  Status open_access_log();
  Status open_admin();
  Status make_link();
  void peer_changed(const ActorRef& peer, bool joined);
  NodeCore::Args root_args();
  std::string render_metrics();

  const config::NodeConfig config_;
  bool with_gateway_ = false;
  Engines engines_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Notes> notes_;
  NodeId node_;
  std::uint32_t incarnation_ = 0;
  std::unique_ptr<ClusterLink> link_;  ///< nothing on a node that neither listens nor joins
  std::unique_ptr<ActorSystem> system_;
  std::unique_ptr<AccessBook> access_book_;      ///< null: no access log
  std::unique_ptr<AccessWriter> access_writer_;  ///< takes from the book
  std::unique_ptr<HttpHost> host_;
  std::vector<TenantLimits> tenants_;  ///< of the configured keys
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> admin_port_;  ///< taken, until open_admin()
  std::unique_ptr<AdminServer> admin_;
  std::atomic<bool> drain_asked_{false};
  ActorRef root_;
  bool stopped_ = false;
};

}  // namespace troupe
