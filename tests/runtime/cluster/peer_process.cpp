// A node for the live test: joins or listens, does what its standard input says, tells what happens
// on its standard output, one line an event, with the time in ms of the monotonic clock at its end.
//
//   cluster_peer (listen|join) PORT NODE HEARTBEAT_MS [unknown]
//   send N SIZE · ping N · stray · peers · quit
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "runtime/actor/system.hpp"
#include "runtime/cluster/identity.hpp"
#include "runtime/cluster/link.hpp"
#include "tests/runtime/cluster/peer_messages.hpp"

namespace troupe::peer {
namespace {

ClusterOptions cluster_options(char** args, bool unknown) {
  ClusterOptions options;
  options.card.version = "test";
  options.card.node = NodeId(static_cast<std::uint32_t>(std::atoi(args[3])));
  options.card.incarnation = draw_incarnation();
  options.heartbeat = milliseconds(std::atoi(args[4]));
  options.registry.add<Number>();
  options.registry.add<Undeliverable>();
  if (unknown) options.registry.add<Unknown>();
  const ClusterAddress address{"127.0.0.1", static_cast<std::uint16_t>(std::atoi(args[2]))};
  (std::string(args[1]) == "listen" ? options.listen : options.join) = address;
  options.callbacks.log = [](bool warning, const std::string& text) {
    tell((warning ? "warn " : "info ") + text);
  };
  return options;
}

void list(const ClusterLink& link) {
  for (const auto& peer : link.peers()) {
    tell("peer " + std::to_string(peer.card.node.value) + " join " + std::to_string(peer.join) +
         " state " + std::to_string(static_cast<int>(peer.state)));
  }
  tell("listed");
}

int run(char** args, bool unknown) {
  ActorSystem* hearing = nullptr;
  ActorRef root;
  ClusterOptions options = cluster_options(args, unknown);
  options.callbacks.on_peer = [&](const ActorRef& peer, bool joined) {
    hearing->send({}, root, make_message<Change>(peer, joined));
  };
  SystemOptions system_options;
  system_options.node = options.card.node;
  system_options.incarnation = options.card.incarnation;
  ClusterLink link(std::move(options));
  system_options.caf = link.setup();
  ActorSystem system(system_options);
  hearing = &system;
  root = system.spawn_root<RootCore>(1, {});
  if (const Status started = link.start(system, root); !started.ok()) {
    tell("failed " + started.error().message);
    return 1;
  }
  tell("started " + std::to_string(link.port()));
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::istringstream words(line);
    std::string verb;
    std::uint64_t count = 1, size = 0;
    words >> verb >> count >> size;
    if (verb == "peers") {
      list(link);
      continue;
    }
    const Verb what = verb == "ping" ? kPing : verb == "stray" ? kStray : kSend;
    system.send({}, root, make_message<Command>(what, count, size));
  }
  const Status end = system.shutdown(Duration(0), seconds(2));
  tell(end.ok() ? "bye" : "hung " + end.error().message);
  return end.ok() ? 0 : 1;
}

}  // namespace
}  // namespace troupe::peer

int main(int count, char** args) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count < 5) return 2;
  return troupe::peer::run(args, count > 5);
}
