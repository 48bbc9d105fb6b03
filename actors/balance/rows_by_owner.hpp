// What one step or round has to tell each owner of requests, gathered into one message an owner.
//
// Why: a step of 64 GPUs ends a dozen rows, and a round of a balancer places as many: a message
// each costs a delivery each, and a handler that comes to its rows one by one.
//
// M: a message whose `rows` is a vector. Order: as added. Not thread-safe; lives for one step.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/actor/effects.hpp"

namespace troupe {

template <class M>
class RowsByOwner {
 public:
  /// The message of that owner so far.
  M& of(const ActorRef& owner) {
    auto at = std::find_if(messages_.begin(), messages_.end(),
                           [&](const auto& one) { return one.first == owner; });
    if (at == messages_.end()) at = messages_.insert(messages_.end(), {owner, M{}});
    return at->second;
  }

  /// To each owner its own.
  void hand_out(Effects& out) {
    for (auto& [owner, message] : messages_) out.send(owner, make_message<M>(std::move(message)));
    messages_.clear();
  }
  /// All of them to somebody else.
  void hand_out_to(const ActorRef& to, Effects& out) {
    for (auto& [owner, message] : messages_) out.send(to, make_message<M>(std::move(message)));
    messages_.clear();
  }

 private:
  std::vector<std::pair<ActorRef, M>> messages_;  ///< few: one a gateway
};

}  // namespace troupe
