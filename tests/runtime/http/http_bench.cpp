// Requests a second and CPU time a request on loopback: our client against our server, a trivial
// JSON answer, keep-alive.
//
//   bench_http [connections] [seconds]         with our client, in one process
//   bench_http serve [port]                    the server alone, for an outside load generator
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "runtime/http/client.hpp"
#include "runtime/http/server.hpp"

namespace {

using namespace troupe;
using namespace troupe::http;

class OkHandler : public Handler {
 public:
  Server* server = nullptr;
  void on_request(SessionId session, Request) override {
    server->respond(session, {200, {{"content-type", "application/json"}}, "{\"ok\":true}"});
  }
  void on_drained(SessionId, std::size_t) override {}
  void on_gone(SessionId) override {}
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto part = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return part(usage.ru_utime) + part(usage.ru_stime);
}

void load(Client& client, std::uint16_t port, int connections, double duration) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<int> running{connections};
  std::function<void()> next = [&] {
    if (stop) {
      --running;
      return;
    }
    ClientRequest request;
    request.host = "127.0.0.1";
    request.port = port;
    client.start(std::move(request), {.on_end =
                                          [&] {
                                            ++done;
                                            next();
                                          },
                                      .on_error =
                                          [&](const Error&) {
                                            ++failed;
                                            next();
                                          }});
  };
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < connections; ++i) next();
  std::this_thread::sleep_for(std::chrono::duration<double>(duration));
  stop = true;
  while (running > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  const double total = static_cast<double>(done);
  std::printf(
      "%d connections: %.0f requests/s, %.1f us CPU/request (client and server), %llu failed\n",
      connections, total / wall.count(), (cpu_seconds() - cpu) * 1e6 / total,
      static_cast<unsigned long long>(failed));
}

}  // namespace

int main(int argc, char** argv) {
  const bool serve = argc > 1 && std::strcmp(argv[1], "serve") == 0;
  OkHandler handler;
  const auto port = static_cast<std::uint16_t>(serve && argc > 2 ? std::atoi(argv[2]) : 0);
  auto server = Server::listen("127.0.0.1", port, {}, handler);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 1;
  handler.server = server.value().get();
  if (serve) {
    std::printf("port %d; end of input stops\n", server.value()->port());
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    const auto requests = static_cast<double>(server.value()->stats().requests_total);
    std::printf("%.0f requests, %.1f us CPU/request\n", requests, cpu_seconds() * 1e6 / requests);
    return 0;
  }
  Client client;
  load(client, server.value()->port(), argc > 1 ? std::atoi(argv[1]) : 64,
       argc > 2 ? std::atof(argv[2]) : 3.0);
  return 0;
}
