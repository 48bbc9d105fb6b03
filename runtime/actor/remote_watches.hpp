// Watches that cross nodes, so that the loss of a node can be told and forgotten.
//
// Outgoing: a local actor watches one elsewhere. Incoming: an actor elsewhere watches a local one.
// Threads: any; all bookkeeping, no calls out.
#pragma once

#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "runtime/actor/ref.hpp"

namespace troupe {

class RemoteWatches {
 public:
  using Pair = std::pair<ActorRef, ActorRef>;  ///< (watcher, target)

  /// False: it was there already.
  bool add_outgoing(const ActorRef& watcher, const ActorRef& target) {
    std::lock_guard lock(mutex_);
    return outgoing_.emplace(watcher, target).second;
  }
  bool remove_outgoing(const ActorRef& watcher, const ActorRef& target) {
    std::lock_guard lock(mutex_);
    return outgoing_.erase({watcher, target}) > 0;
  }
  void add_incoming(const ActorRef& watcher, const ActorRef& target) {
    std::lock_guard lock(mutex_);
    incoming_.emplace(watcher, target);
  }
  void remove_incoming(const ActorRef& watcher, const ActorRef& target) {
    std::lock_guard lock(mutex_);
    incoming_.erase({watcher, target});
  }

  struct Lost {
    std::vector<Pair> outgoing;
    std::vector<Pair> incoming;
  };
  /// Takes out every watch to or from a node's incarnations up to `incarnation`.
  Lost take_node(NodeId node, std::uint32_t incarnation) {
    std::lock_guard lock(mutex_);
    auto of_node = [&](const ActorRef& ref) {
      return ref.node == node && ref.incarnation <= incarnation;
    };
    Lost lost;
    std::erase_if(outgoing_, [&](const Pair& pair) {
      if (!of_node(pair.second)) return false;
      lost.outgoing.push_back(pair);
      return true;
    });
    std::erase_if(incoming_, [&](const Pair& pair) {
      if (!of_node(pair.first)) return false;
      lost.incoming.push_back(pair);
      return true;
    });
    return lost;
  }

 private:
  std::mutex mutex_;
  std::set<Pair> outgoing_;
  std::set<Pair> incoming_;
};

}  // namespace troupe
