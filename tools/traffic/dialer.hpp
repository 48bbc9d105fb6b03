// Dialer: lets the traffic core talk to any HTTP server.
//
// An endpoint of the live actor system that stands where a gateway stands: it takes HttpArrived and
// SessionGone, makes the call with the HTTP client, and sends back what comes as SessionBegin,
// SessionWrite and one terminal message. An answer other than 200 comes whole (SessionRespond); no
// answer at all comes as status 0 with the reason.
//
// Threads: messages come on scheduler threads, bytes on the client's; one mutex keeps the book of
// calls. Ownership: the actor system outlives the dialer, but is shut down before it goes; the
// dialer ends its calls.
#pragma once

#include <map>
#include <mutex>

#include "actors/gateway/session_messages.hpp"
#include "runtime/actor/system.hpp"
#include "runtime/http/client.hpp"
#include "runtime/http/url.hpp"

namespace troupe {

class Dialer {
 public:
  /// Body bytes of an error answer that are kept.
  static constexpr std::size_t kErrorBodyMax = 64u << 10;

  Dialer(ActorSystem& system, http::Url server);
  /// Requires: the system was shut down, so that no message is being handled.
  ~Dialer();
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;

  const ActorRef& ref() const { return ref_; }

 private:
  struct Call;

  void receive(const Envelope& envelope);
  void dial(const HttpArrived& arrived);
  void hang_up(std::uint64_t exchange);
  void forget(std::uint64_t exchange);
  template <class M>
  void answer(const Call& call, M message);
  http::ClientCallbacks callbacks(const std::shared_ptr<Call>& call);

  ActorSystem& system_;
  http::Url server_;
  ActorRef ref_;
  std::mutex mutex_;
  std::map<std::uint64_t, http::CallId> calls_;
  std::unique_ptr<http::Client> client_;
};

}  // namespace troupe
