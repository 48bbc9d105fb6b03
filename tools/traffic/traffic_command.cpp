#include "tools/traffic/traffic_command.hpp"

#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <future>
#include <memory>

#include "actors/load/trace_source.hpp"
#include "actors/traffic/report_json.hpp"
#include "actors/traffic/traffic_core.hpp"
#include "tools/cli/cli.hpp"
#include "tools/traffic/dialer.hpp"
#include "tools/traffic/traffic_options.hpp"

namespace troupe {

namespace {

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

/// Waits for the traffic actor's end; shows its progress: on a terminal each second in one line,
/// else a line every ten.
class Observer {
 public:
  void receive(const Envelope& envelope) {
    if (const auto* progress = envelope.message.as<TrafficProgress>()) show(*progress);
    if (const auto* ended = envelope.message.as<TrafficEnded>()) {
      std::lock_guard lock(mutex_);
      report_ = ended->report.report;
      changed_.notify_all();
    } else if (envelope.message.as<Down>() != nullptr) {
      std::lock_guard lock(mutex_);
      lost_ = true;
      changed_.notify_all();
    }
  }

  /// True: it has ended, with a report or without.
  bool wait(std::chrono::milliseconds within) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, within, [this] { return report_ != nullptr || lost_; });
  }

  std::shared_ptr<const TrafficReport> report() {
    std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  void show(const TrafficProgress& progress) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (++told_ % kTellEvery != 0 && !terminal) return;
    std::fprintf(stderr, "%s%llu ended, %u under way, %llu failed, %llu cancelled%s",
                 terminal ? "\r" : "", static_cast<unsigned long long>(progress.ended),
                 progress.live, static_cast<unsigned long long>(progress.failed),
                 static_cast<unsigned long long>(progress.cancelled), terminal ? "\033[K" : "\n");
  }

  static constexpr unsigned kTellEvery = 10;  ///< of the progress messages, one a second
  unsigned told_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const TrafficReport> report_;
  bool lost_ = false;
};

constexpr std::uint64_t kTrafficName = 1;
constexpr Duration kEndWithin = seconds(5);

/// That somebody accepts connections there: a run against nobody would be a table of zeros.
Status check_reachable(const http::Url& server) {
  std::promise<Status> promise;
  auto reached = promise.get_future();
  http::Client client;
  http::ClientRequest request;
  request.host = server.host;
  request.port = server.port;
  request.path = "/health";
  request.total_timeout = kEndWithin;
  client.start(std::move(request), {.on_end = [&] { promise.set_value(ok_status()); },
                                    .on_error = [&](const Error& e) { promise.set_value(e); }});
  const Status status = reached.get();
  if (status.ok() || status.error().code == Code::kDeadline) return ok_status();  // busy, but there
  return Error{Code::kUnavailable, "nobody answers at " + server.host + ":" +
                                       std::to_string(server.port) + " (" + status.error().message +
                                       "); is the server running, and is --url right?"};
}

/// Runs the plan to its end, or to Ctrl-C.
Result<std::shared_ptr<const TrafficReport>> drive(const TrafficPlan& plan,
                                                   std::unique_ptr<RequestSource> source,
                                                   const http::Url& server,
                                                   ChatPrompts::Options prompts) {
  Observer observer;
  ActorSystem system{SystemOptions{}};
  Dialer dialer(system, server);
  const ActorRef watcher =
      system.open_endpoint([&observer](const Envelope& envelope) { observer.receive(envelope); });
  TrafficCore::Args args;
  args.plan = plan;
  args.source = std::move(source);
  args.prompts = std::make_shared<const ChatPrompts>(std::move(prompts));
  args.target = dialer.ref();
  args.observer = watcher;
  const ActorRef traffic = system.spawn_root<TrafficCore>(kTrafficName, std::move(args));
  system.watch(watcher, traffic);
  bool told = false;
  while (!observer.wait(std::chrono::milliseconds(100))) {
    if (interrupted == 0 || told) continue;
    told = true;
    system.send(watcher, traffic, make_message<Drain>(seconds(1)));
  }
  if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
  system.close_endpoint(watcher);
  // Before the dialer and the observer go: closing an endpoint does not wait for what it handles.
  TROUPE_TRY(system.shutdown(Duration(0), kEndWithin));
  auto report = observer.report();
  if (!report) return Error{Code::kInternal, "the load generator ended without a report"};
  return report;
}

Result<int> run_traffic(const TrafficOptions& options) {
  TROUPE_TRY_ASSIGN(const TrafficPlan plan, options.plan());
  TROUPE_TRY_ASSIGN(const http::Url server, options.server());
  TROUPE_TRY_ASSIGN(auto prompts, options.prompts(server));
  TROUPE_TRY_ASSIGN(auto source, open_source(plan));
  TROUPE_TRY(check_reachable(server));
  interrupted = 0;
  std::signal(SIGINT, on_interrupt);
  auto driven = drive(plan, std::move(source), server, std::move(prompts));
  std::signal(SIGINT, SIG_DFL);
  TROUPE_TRY_ASSIGN(const auto report, std::move(driven));
  const std::string text = options.json                 ? report_json(*report) + "\n"
                           : options.format == "aiperf" ? aiperf_table(*report)
                                                        : vllm_block(*report);
  std::fputs(text.c_str(), stdout);
  if (report->broken()) return cli::report(*report->broken());
  const bool too_many = report->error_share() > options.max_error_share;
  return too_many || report->count(Outcome::kOk) == 0 ? cli::kFailure : cli::kOk;
}

}  // namespace

void add_traffic_command(cli::Command& program) {
  cli::Command command = program.command("traffic", "Load a server and measure what clients see");
  const auto options = std::make_shared<TrafficOptions>(command);
  command.run([options] {
    const Result<int> result = run_traffic(*options);
    return result.ok() ? *result : cli::report(result.error());
  });
}

}  // namespace troupe
