// What the nodes of the live test say to each other, and their root actor.
#pragma once

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "runtime/actor/actor.hpp"
#include "runtime/actor/message_type.hpp"
#include "runtime/base/monotonic.hpp"

namespace troupe::peer {

/// The link tells the root: that node is there, or gone.
struct Change {
  static constexpr MessageInfo info{0x7e01, "change"};
  ActorRef root;
  bool joined = false;
  static void fields(auto& self, auto&& visit) {
    visit("root", self.root);
    visit("joined", self.joined);
  }
};

/// One of a row of messages; the receiver sends each back.
struct Number {
  static constexpr MessageInfo info{0x7e02, "number"};
  std::uint64_t number = 0;
  bool echo = false;
  std::string bytes;
  static void fields(auto& self, auto&& visit) {
    visit("number", self.number);
    visit("echo", self.echo);
    visit("bytes", self.bytes);
  }
};

enum Verb : std::uint8_t { kSend, kPing, kStray };

/// From the console.
struct Command {
  static constexpr MessageInfo info{0x7e03, "command"};
  std::uint8_t verb = 0;
  std::uint64_t count = 0;
  std::uint64_t size = 0;
  static void fields(auto& self, auto&& visit) {
    visit("verb", self.verb);
    visit("count", self.count);
    visit("size", self.size);
  }
};

/// Only a node of another build knows it.
struct Unknown {
  static constexpr MessageInfo info{0x7e04, "unknown"};
  static void fields(auto&, auto&&) {}
};

inline void tell(const std::string& line) {
  std::printf("%s %lld\n", line.c_str(), static_cast<long long>(monotonic_now().value / 1'000'000));
  std::fflush(stdout);
}

class RootCore {
 public:
  using Accepts = Protocol<Started, Change, Number, Command, Down, Undeliverable>;
  struct Args {};
  static constexpr const char* kKind = "peer_root";

  explicit RootCore(const Args&) {}

  void on(const Started&, Context&, Effects&) {}

  void on(const Change& change, Context&, Effects& out) {
    const std::string node = std::to_string(change.root.node.value);
    std::erase(peers_, change.root);
    if (change.joined) {
      expected_[change.root] = 0;
      peers_.push_back(change.root);
      out.watch(change.root);
    }
    tell((change.joined ? "joined " : "lost ") + node);
  }

  void on(const Number& number, Context& context, Effects& out) {
    if (!number.echo) {
      std::uint64_t& expected = expected_[context.from];
      if (number.number == 0) expected = 0;
      if (number.number != expected++) tell("out_of_order");
      return out.send(context.from, make_message<Number>(number.number, true, std::string()));
    }
    if (number.number != echoed_++) tell("echo_out_of_order");
    if (pinging_) rounds_.push_back((context.now - started_).value);
    if (echoed_ == count_) return report(context);
    if (pinging_) ping(context, out);
  }

  void on(const Command& command, Context& context, Effects& out) {
    echoed_ = 0;
    count_ = command.count;
    rounds_.clear();
    pinging_ = command.verb == kPing;
    started_ = context.now;
    if (command.verb == kStray) return stray(out);
    if (pinging_) return ping(context, out);
    for (const auto& peer : peers_) {
      for (std::uint64_t i = 0; i < command.count; ++i) {
        out.send(peer, make_message<Number>(i, false, std::string(command.size, 'x')));
      }
    }
  }

  void on(const Down& down, Context&, Effects&) {
    tell("down " + std::to_string(down.ref.node.value) + " " + std::string(to_string(down.reason)));
  }
  void on(const Undeliverable& back, Context&, Effects&) {
    if (++undeliverable_ == 1) tell("undeliverable " + std::to_string(back.to.node.value));
  }

  const char* phase() const { return "running"; }
  std::string describe() const { return "peers=" + std::to_string(peers_.size()); }

 private:
  void ping(Context& context, Effects& out) {
    if (peers_.empty()) return;
    started_ = context.now;
    out.send(peers_.front(), make_message<Number>(echoed_, false, std::string()));
  }
  /// To an actor that the peer does not have, and to a node that nobody has; watches both.
  void stray(Effects& out) {
    undeliverable_ = 0;
    for (auto nobody : peers_) {
      nobody.local = 12345;
      out.send(nobody, make_message<Number>());
      out.watch(nobody);
    }
    const ActorRef nowhere{NodeId(999), 1, 5, 1};
    out.watch(nowhere);
  }
  void report(Context& context) {
    if (!pinging_) {
      const std::int64_t us = (context.now - started_).value / 1000;
      return tell("echoed " + std::to_string(count_) + " us " + std::to_string(us));
    }
    std::sort(rounds_.begin(), rounds_.end());
    tell("pinged " + std::to_string(count_) + " p50_us " +
         std::to_string(rounds_[rounds_.size() / 2] / 1000) + " p99_us " +
         std::to_string(rounds_[rounds_.size() * 99 / 100] / 1000));
  }

  std::vector<ActorRef> peers_;
  std::map<ActorRef, std::uint64_t> expected_;
  std::uint64_t echoed_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t undeliverable_ = 0;
  bool pinging_ = false;
  Time started_;
  std::vector<std::int64_t> rounds_;
};

}  // namespace troupe::peer
