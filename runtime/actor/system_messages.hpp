// Messages that the runtime itself sends. They travel the same path as all others.
#pragma once

#include <string>
#include <string_view>

#include "runtime/actor/message.hpp"
#include "runtime/actor/ref.hpp"
#include "runtime/base/time.hpp"

namespace troupe {

/// The first message of every life.
struct Started {
  static constexpr MessageInfo info{0x0001, "started"};
  static void fields(auto&, auto&&) {}
};

/// Which timer: the core's own numbering. One tag has at most one pending timer.
struct TimerTag {
  std::uint32_t kind = 0;
  std::uint64_t key = 0;
  friend auto operator<=>(const TimerTag&, const TimerTag&) = default;
  static void fields(auto& self, auto&& visit) {
    visit("kind", self.kind);
    visit("key", self.key);
  }
};

/// A timer is due. A replaced or cancelled timer is never delivered.
struct TimerFired {
  static constexpr MessageInfo info{0x0002, "timer_fired"};
  TimerTag tag;
  static void fields(auto& self, auto&& visit) { visit("tag", self.tag); }
};

enum class EndReason : std::uint8_t {
  kStopped = 0,  ///< it ended itself: its work is done
  kCrashed,      ///< an assertion or an exception
  kKilled,       ///< a fault plan or an operator
  kParentEnded,  ///< ownership ends: children go with their parent
  kNodeLost,     ///< its node is silent or gone
  kUnknown,      ///< it was not there when the watch began
};

std::string_view to_string(EndReason reason);

/// An actor that the receiver watches (or is the parent of) has ended.
struct Down {
  static constexpr MessageInfo info{0x0003, "down"};
  ActorRef ref;
  EndReason reason = EndReason::kStopped;
  std::string detail;
  static void fields(auto& self, auto&& visit) {
    visit("ref", self.ref);
    visit("reason", self.reason);
    visit("detail", self.detail);
  }
};

/// A message of ours found nobody: the reference is stale or unknown.
struct Undeliverable {
  static constexpr MessageInfo info{0x0004, "undeliverable"};
  ActorRef to;
  std::uint16_t kind = 0;
  static void fields(auto& self, auto&& visit) {
    visit("to", self.to);
    visit("kind", self.kind);
  }
};

/// Ends the receiver in the name of its operator or a fault plan; the host carries it out.
struct Kill {
  static constexpr MessageInfo info{0x0005, "kill"};
  static void fields(auto&, auto&&) {}
};

/// Asks to finish what is under way and then to stop. Sent by the host at shutdown.
struct Drain {
  static constexpr MessageInfo info{0x0006, "drain"};
  Duration within;
  static void fields(auto& self, auto&& visit) { visit("within", self.within); }
};

/// The end of an asynchronous operation that the core started: exactly one for each OpId.
template <class Output>
struct Done {
  static constexpr MessageInfo info{static_cast<std::uint16_t>(Output::info.kind | 0x8000u),
                                    Output::info.name};
  OpId op;
  bool failed = false;
  Error error;      ///< if failed
  Output output{};  ///< if not failed

  static void fields(auto& self, auto&& visit) {
    visit("op", self.op);
    visit("failed", self.failed);
    visit("code", self.error.code);
    visit("message", self.error.message);
    visit("output", self.output);
  }
};

}  // namespace troupe
