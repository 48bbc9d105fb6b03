#include "tools/node/node_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "runtime/observe/log.hpp"
#include "tools/cli/cli.hpp"
#include "tools/node/node_options.hpp"
#include "tools/node/serving_node.hpp"

namespace troupe {

namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  return signals;
}

/// The signal that came within `wait`; 0 or less: none.
int signal_within(Duration wait) {
  const sigset_t signals = stop_signals();
  timespec time{wait.value / 1'000'000'000, wait.value % 1'000'000'000};
  return sigtimedwait(&signals, nullptr, &time);
}

bool has_terminal() {
  const int terminal = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

/// Serves until a signal asks for an end, or the node has ended: false. SIGHUP makes it read files
/// anew, as daemons do, unless it says that the terminal which the node was started from is gone.
bool serve_until_asked(ServingNode& node) {
  const bool had_terminal = has_terminal();
  while (node.running()) {
    const int signal = signal_within(milliseconds(200));
    if (signal <= 0) continue;
    if (signal != SIGHUP || (had_terminal && !has_terminal())) return true;
    node.reload();
  }
  return false;
}

const char* level_name(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kTrace:
      return "trace";
    case config::LogLevel::kDebug:
      return "debug";
    case config::LogLevel::kInfo:
      return "info";
    case config::LogLevel::kWarn:
      return "warn";
    case config::LogLevel::kError:
      return "error";
    case config::LogLevel::kOff:
      return "off";
  }
  return "info";
}

/// "serves smollm2", or for a gateway alone where its ranks come from.
std::string purpose(const ServingNode& node, const config::NodeConfig& config) {
  const auto& roles = config.node.roles;
  if (std::find(roles.begin(), roles.end(), "rank") != roles.end()) return "serves " + node.about();
  std::string text = "gateway for " + node.about() + ": ";
  if (node.cluster_port() == 0) return text + "asks the node at " + config.node.join + " for ranks";
  const std::string& listen = config.node.cluster_listen;
  return text + "waits for ranks at " + listen.substr(0, listen.rfind(':') + 1) +
         std::to_string(node.cluster_port());
}

void greet(const ServingNode& node, const config::NodeConfig& config) {
  std::printf("troupe %s %s\n", TROUPE_VERSION, purpose(node, config).c_str());
  if (node.port() != 0) {
    const char* scheme = config.gateway.tls_certificate.empty() ? "http" : "https";
    std::printf("  %s://%s:%u/v1/chat/completions\n", scheme, config.node.host.c_str(),
                node.port());
  }
  if (node.admin_port() != 0) {
    std::printf("  troupe admin --url http://127.0.0.1:%u top\n", node.admin_port());
  }
  std::printf("  stop with Ctrl-C: running requests get %lld ms to finish\n",
              static_cast<long long>(config.node.drain_timeout.value / 1'000'000));
  std::fflush(stdout);
}

int serve(const config::NodeConfig& config) {
  // Blocked before any thread starts, so that only the loop below takes them.
  const sigset_t signals = stop_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  logging::start(level_name(config.node.log_level), config.node.log_json);
  auto node = ServingNode::start(config);
  if (!node.ok()) return cli::report(node.error());
  greet(**node, config);
  const bool asked = serve_until_asked(**node);
  const bool drained = (*node)->drained();
  if (!asked && !drained) logging::error("node", "the root actor has ended; the node stops");
  if (asked) logging::info("node", "draining; a second signal ends at once");
  // The second signal has its default meaning: it ends the process.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  if (!(*node)->stop(config.node.drain_timeout)) {
    // What hangs (a device, a thread of it) still uses what destructors would take away.
    logging::error("node", "something did not end in time; the process ends without it");
    std::_Exit(cli::kFailure);
  }
  return asked || drained ? cli::kOk : cli::kFailure;
}

}  // namespace

void add_node_command(cli::Command& program) {
  cli::Command command = program.command("node", "Start a node: gateway, ranks, or both");
  auto options = std::make_shared<NodeOptions>(command);
  command.run([options] {
    auto loaded = options->load();
    if (!loaded.ok()) return cli::report(loaded.error());
    if (!options->wants_dump()) return serve(loaded->config);
    std::fputs(loaded->dump.c_str(), stdout);
    return cli::kOk;
  });
}

}  // namespace troupe
