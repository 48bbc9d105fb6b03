// A gateway core whose sessions, ranks and requests the test plays.
#pragma once

#include <map>

#include "actors/gateway/gateway_core.hpp"
#include "tests/actors/core_driver.hpp"

namespace troupe {

class GatewayDriver {
 public:
  const ActorRef session = actor(20);
  const ActorRef streams = actor(30);
  const ActorRef node = actor(40);

  static GatewayCore::Args args(std::uint32_t requests_max = 8) {
    GatewayCore::Args args;
    args.requests_max = requests_max;
    args.retry_after = seconds(2);
    args.version = "1.2.3";
    return args;
  }
  explicit GatewayDriver(std::uint32_t requests_max = 8, const ActorRef& self = actor(1))
      : GatewayDriver(args(requests_max), self) {}
  explicit GatewayDriver(const GatewayCore::Args& args, const ActorRef& self = actor(1))
      : driver(args, self) {
    driver.starts();
  }

  /// Knows a stream table and rank 51.
  GatewayDriver& ready() {
    driver.hears(StreamsStarted{streams}, from(node));
    joins(51);
    return *this;
  }
  Turn joins(std::uint64_t rank, std::uint32_t capacity = 4, const char* model = "m") {
    RankJoined joined;
    joined.rank = actor(rank);
    joined.models = {model};
    joined.capacity = capacity;
    joined.context_max = 4096;
    return driver.hears(joined, from(node));
  }
  Turn asks(const char* method, const char* path, const HeaderList& headers = {}) {
    HttpArrived arrived;
    arrived.headers = headers;
    arrived.exchange = ++exchange;
    arrived.session = session;
    arrived.method = method;
    arrived.path = path;
    arrived.arrived = driver.now();
    return driver.hears(arrived, from(session));
  }
  Turn chats() { return asks("POST", "/v1/chat/completions"); }
  /// A request actor that was just admitted.
  ActorRef request() {
    const auto spawned = chats().all<effect::Spawn>();
    EXPECT_EQ(spawned.size(), 1u);
    if (spawned.empty()) return {};
    const ActorRef ref = spawned.front().ref;
    ids[ref] = static_cast<const RequestCore::Args*>(spawned.front().args.get())->id;
    return ref;
  }
  /// Requires: request() gave it.
  Turn places(const ActorRef& request, const char* model = "m", std::uint32_t rows = 1) {
    return driver.hears(PlaceRequest{ids.at(request), model, rows}, from(request));
  }
  /// The rank that it was given; nobody if none.
  ActorRef placed(const ActorRef& request, const char* model = "m") {
    const auto answers = places(request, model).sent<Placed>(request);
    return answers.empty() ? ActorRef{} : answers.front().rank;
  }
  SessionRespond answer(const Turn& turn) const {
    const SessionRespond one = turn.only<SessionRespond>(session);
    EXPECT_EQ(one.exchange, exchange);
    return one;
  }

  CoreDriver<GatewayCore> driver;
  std::uint64_t exchange = 0;
  std::map<ActorRef, RequestId> ids;  ///< of requests
};

/// The value of a header, or an empty string.
inline std::string header(const SessionRespond& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace troupe
