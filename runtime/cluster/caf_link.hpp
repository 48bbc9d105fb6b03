// The link's only part that knows CAF: one actor that carries bytes over the middleman.
//
// The actor is one of CAF's brokers: it runs on the middleman's thread, where the bytes are.
// Heartbeats never wait behind a long handler of somebody else, and no frame changes threads on its
// way between its socket and an actor's mailbox. It holds a number for each link actor that it has
// heard of or dialed and tells the worker of what arrives, closes and is due. CAF's own heartbeats
// are on with a longer timeout than ours: they end dials to nowhere and half-open connections, the
// membership core decides who is lost.
//
// Threads: flush and closing from any; start from the one that starts the node (it waits for the
// port to be bound).
#pragma once

#include <memory>
#include <optional>

#include "runtime/actor/caf_handle.hpp"
#include "runtime/cluster/address.hpp"
#include "runtime/cluster/link_worker.hpp"

namespace troupe {

class CafLink final : public CafSetup {
 public:
  static constexpr Duration kCloseMax = seconds(2);

  explicit CafLink(Duration heartbeat);
  ~CafLink() override;

  void configure(caf::actor_system_config& config) override;
  /// Says goodbye to the peers and ends the actor, within kCloseMax; an actor that hangs by then is
  /// left behind with the worker, which it calls no more. Repeated calls are harmless.
  void closing() override;

  /// The actor keeps the worker alive. Requires: what the worker uses lives until closing().
  Status start(CafHandle caf, std::shared_ptr<LinkWorker> worker,
               const std::optional<ClusterAddress>& listen,
               const std::optional<ClusterAddress>& join);
  std::uint16_t port() const { return port_; }
  /// There is something in the pipes.
  void flush();

 private:
  struct Running;

  Duration heartbeat_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Running> running_;
};

}  // namespace troupe
