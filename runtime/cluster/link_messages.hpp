// What links say to each other.
//
//   joining → listening   Hello         I am this node, and this is my join's session
//   listening → joining   Welcome       so am I; or
//                         Refused       no, and why
//   joining → listening   Ready         both directions work: the session is up
//   both                  Beat          first in each frame of a session; alone, a heartbeat
//   both                  Out           the session is over for me; answered by Out if it was up
//   both                  WatchRemote, UnwatchRemote   in order with the envelopes around them
//
// They travel in frames like all messages (envelope.hpp), from and to nobody. A `session` names one
// join of one process; whatever carries another one than the receiver's has no effect.
#pragma once

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/cluster/card.hpp"

namespace troupe {

struct Hello {
  static constexpr MessageInfo info{0x0701, "hello"};
  std::uint64_t session = 0;
  std::uint32_t join = 0;  ///< grows with each join of the process
  NodeCard card;
  static void fields(auto& self, auto&& visit) {
    visit("session", self.session);
    visit("join", self.join);
    visit("card", self.card);
  }
};

struct Welcome {
  static constexpr MessageInfo info{0x0702, "welcome"};
  std::uint64_t session = 0;
  NodeCard card;
  static void fields(auto& self, auto&& visit) {
    visit("session", self.session);
    visit("card", self.card);
  }
};

struct Refused {
  static constexpr MessageInfo info{0x0703, "refused"};
  std::uint64_t session = 0;
  std::string reason;
  static void fields(auto& self, auto&& visit) {
    visit("session", self.session);
    visit("reason", self.reason);
  }
};

struct Ready {
  static constexpr MessageInfo info{0x0704, "ready"};
  std::uint64_t session = 0;
  static void fields(auto& self, auto&& visit) { visit("session", self.session); }
};

struct Beat {
  static constexpr MessageInfo info{0x0705, "beat"};
  std::uint64_t session = 0;
  std::uint64_t received = 0;  ///< bytes of this session's frames so far: the sender's credit
  static void fields(auto& self, auto&& visit) {
    visit("session", self.session);
    visit("received", self.received);
  }
};

struct Out {
  static constexpr MessageInfo info{0x0706, "out"};
  std::uint64_t session = 0;
  std::string reason;
  static void fields(auto& self, auto&& visit) {
    visit("session", self.session);
    visit("reason", self.reason);
  }
};

struct WatchRemote {
  static constexpr MessageInfo info{0x0707, "watch_remote"};
  ActorRef watcher;
  ActorRef target;
  static void fields(auto& self, auto&& visit) {
    visit("watcher", self.watcher);
    visit("target", self.target);
  }
};

struct UnwatchRemote {
  static constexpr MessageInfo info{0x0708, "unwatch_remote"};
  ActorRef watcher;
  ActorRef target;
  static void fields(auto& self, auto&& visit) {
    visit("watcher", self.watcher);
    visit("target", self.target);
  }
};

using LinkProtocol =
    Protocol<Hello, Welcome, Refused, Ready, Beat, Out, WatchRemote, UnwatchRemote>;

}  // namespace troupe
