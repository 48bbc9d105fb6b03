// Who owns each HTTP exchange: the books of the HTTP host.
//
// Why in stripes: every request and every answer passes here, from io threads and from actor
// threads. An exchange's number names its io thread (number % 64, runtime/http/shard.hpp), and so
// its stripe: io threads never wait for each other, and an actor only for the one io thread that it
// writes to.
//
// Invariants: (1) an exchange is taken out once, by whoever ends it; (2) an exchange that was
// opened for a gateway is found by take_of(gateway), whenever that comes: it is read and noted
// under one lock. Threads: any. No lock is held while anybody is called.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "actors/gateway/session_messages.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

class HostExchanges {
 public:
  struct Exchange {
    ActorRef gateway;  ///< that it was opened for
    ActorRef owner;    ///< the gateway, then the request
    ActorRef streams;  ///< nobody before adoption
    RequestId row;     ///< its number there
    bool begun = false;
    std::uint64_t reported = 0;  ///< bytes last told to the streams
    HeaderList headers;          ///< that the answer carries beside its own
    recipe::Protocol protocol = recipe::Protocol::kChat;  ///< whose errors it gets
  };

  /// Whom new exchanges belong to; nobody: there is no gateway.
  void set_gateway(const ActorRef& gateway);
  /// Opens an exchange and returns its owner; nobody: no gateway lives, and nothing was opened.
  ActorRef open(std::uint64_t number, recipe::Protocol protocol);
  /// False: the exchange has ended.
  bool adopt(const SessionAdopted& adoption);
  /// The answer begins; returns the headers that it carries beside its own.
  HeaderList begin(std::uint64_t number);
  struct Drained {
    ActorRef streams;  ///< to hear of these bytes, told in steps; nobody: not yet, or unknown
    RequestId row;
  };
  Drained drained(std::uint64_t number, std::uint64_t bytes);
  std::optional<Exchange> take(std::uint64_t number);
  /// All exchanges of a gateway, which is nobody's any more.
  std::map<std::uint64_t, Exchange> take_of(const ActorRef& gateway);

 private:
  struct alignas(64) Stripe {
    std::mutex mutex;
    ActorRef gateway;
    std::unordered_map<std::uint64_t, Exchange> exchanges;
  };
  Stripe& stripe_of(std::uint64_t number) { return stripes_[number % stripes_.size()]; }

  std::array<Stripe, 64> stripes_;
};

}  // namespace troupe
