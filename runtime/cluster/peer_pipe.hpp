// What waits to be sent to one peer, and how much of it may.
//
// Senders append encoded envelopes from any thread; the link takes all of it at once, one frame a
// batch: the busier the link, the larger its frames.
//
// Invariants
// 1. Envelopes leave in the order in which `put` took them.
// 2. Outstanding bytes (waiting, or sent and not acknowledged by the peer) are at most `bytes_max`
//    plus one payload; the next one overflows, and the pipe takes nothing more. CAF's own send
//    buffer is unbounded: this is what bounds it.
// 3. Encoding happens on the sender's thread: a payload that breaks a rule ends its sender, never
//    the link.
//
// Threads: put and close from any; take, sent and acknowledged from the link's.
#pragma once

#include <deque>
#include <mutex>
#include <string>

#include "runtime/actor/envelope.hpp"

namespace troupe {

class PeerPipe {
 public:
  enum class Put : std::uint8_t {
    kQueued,
    kFirst,     ///< queued, and nothing was before: wake the link
    kClosed,    ///< not queued
    kOverflow,  ///< not queued, and closed now: wake the link, it must cut the peer
  };
  /// Envelopes, one after another.
  struct Batch {
    std::string bytes;
    std::uint32_t count = 0;
  };

  PeerPipe(NodeId node, std::uint32_t incarnation, std::size_t bytes_max)
      : node_(node), incarnation_(incarnation), bytes_max_(bytes_max) {}

  /// Whether it leads to the node (and life) that `ref` lives on.
  bool leads_to(const ActorRef& ref) const {
    return ref.node == node_ && ref.incarnation == incarnation_;
  }

  [[nodiscard]] Put put(const Envelope& envelope);
  std::deque<Batch> take();
  void sent(std::size_t bytes);
  /// The peer has received `total` bytes since the session began.
  void acknowledged(std::uint64_t total);
  void close();
  bool overflowed() const;
  std::size_t outstanding() const;

 private:
  std::size_t outstanding_locked() const { return waiting_ + (sent_ - acknowledged_); }

  const NodeId node_;
  const std::uint32_t incarnation_;
  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::deque<Batch> batches_;
  std::size_t waiting_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool closed_ = false;
  bool overflowed_ = false;
};

}  // namespace troupe
