#include "tools/admin/admin_command.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "tools/admin/actor_table.hpp"
#include "tools/admin/admin_client.hpp"
#include "tools/admin/device_load.hpp"
#include "tools/admin/node_table.hpp"
#include "tools/cli/cli.hpp"

namespace troupe {

namespace {

struct AdminFlags {
  AdminTarget target;
  std::string sort = "busy";
  std::string kind;
  std::string id;
  std::size_t count = 0;
  double interval = 1.0;
  std::size_t rounds = 0;
  bool json = false;
};

ActorSort sort_of(const std::string& name) {
  if (name == "mailbox") return ActorSort::kMailbox;
  if (name == "in") return ActorSort::kIn;
  if (name == "longest") return ActorSort::kLongest;
  if (name == "kind") return ActorSort::kKind;
  return ActorSort::kBusy;
}

Result<std::vector<ActorLine>> sample(const AdminFlags& flags) {
  TROUPE_TRY_ASSIGN(const std::string body, admin_call(flags.target, "GET", "/admin/actors"));
  TROUPE_TRY_ASSIGN(auto actors, parse_actors(body));
  if (flags.kind.empty()) return actors;
  return of_kind(std::move(actors), flags.kind);
}

/// As paths name it: logs write NODE.INCARNATION/ID#LIFE.
std::string actor_name(std::string text) {
  if (const auto slash = text.rfind('/'); slash != std::string::npos) text.erase(0, slash + 1);
  std::replace(text.begin(), text.end(), '#', '-');
  return text;
}

/// The width of the terminal; without one, lines are whole.
std::size_t columns() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : std::string::npos;
}

int print_call(const AdminFlags& flags, const char* method, const std::string& path) {
  const auto body = admin_call(flags.target, method, path);
  if (!body.ok()) return cli::report(body.error());
  std::printf("%s\n", body->c_str());
  return cli::kOk;
}

/// Asks for something; what the node says with --json, else `text`.
int order(const AdminFlags& flags, const std::string& path, const char* text) {
  if (flags.json) return print_call(flags, "POST", path);
  const auto body = admin_call(flags.target, "POST", path);
  if (!body.ok()) return cli::report(body.error());
  std::printf("%s\n", text);
  return cli::kOk;
}

/// Prints what the node says at `path`, as it says it or as a table.
int print_table(const AdminFlags& flags, const std::string& path,
                Result<std::string> (*format)(std::string_view)) {
  if (flags.json) return print_call(flags, "GET", path);
  const auto body = admin_call(flags.target, "GET", path);
  if (!body.ok()) return cli::report(body.error());
  const auto text = format(*body);
  if (!text.ok()) return cli::report(text.error());
  std::fputs(text->c_str(), stdout);
  return cli::kOk;
}

int ps(const AdminFlags& flags) {
  if (flags.json) return print_call(flags, "GET", "/admin/actors");
  const auto actors = sample(flags);
  if (!actors.ok()) return cli::report(actors.error());
  std::fputs(format_actors(*actors, sort_of(flags.sort), flags.count, false).c_str(), stdout);
  return cli::kOk;
}

int top(const AdminFlags& flags) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  const std::size_t count = flags.count == 0 ? 20 : flags.count;
  std::vector<ActorLine> before;
  std::optional<DeviceLoad> load_before;
  auto before_at = std::chrono::steady_clock::now();
  for (std::size_t round = 0; flags.rounds == 0 || round < flags.rounds; ++round) {
    auto actors = sample(flags);
    if (!actors.ok()) return cli::report(actors.error());
    const auto metrics = admin_call(flags.target, "GET", "/metrics");
    if (!metrics.ok()) return cli::report(metrics.error());
    const auto load = parse_load(*metrics);
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - before_at).count();
    if (round > 0) add_rates(*actors, before, seconds);
    if (terminal) std::fputs("\x1b[H\x1b[2J", stdout);
    std::string text = fmt::format("{} actors at {}, every {:.1f} s; Ctrl-C ends\n", actors->size(),
                                   flags.target.url, flags.interval);
    if (load) text += format_load(*load, load_before, seconds);
    text += format_actors(*actors, sort_of(flags.sort), count, round > 0);
    std::fputs(cut_lines(text, columns()).c_str(), stdout);
    std::fflush(stdout);
    before = std::move(*actors);
    load_before = load;
    before_at = now;
    if (flags.rounds == 0 || round + 1 < flags.rounds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(flags.interval));
    }
  }
  return cli::kOk;
}

void add_list_options(cli::Command& command, AdminFlags& flags) {
  command.option("--sort", flags.sort, "busy, mailbox, in, longest or kind")
      .one_of({"busy", "mailbox", "in", "longest", "kind"});
  command.option("--kind", flags.kind, "Only actors of this kind");
  command.option("-n,--count", flags.count, "At most so many lines");
}

void add_questions(cli::Command& admin, const std::shared_ptr<AdminFlags>& flags) {
  cli::Command show = admin.command("show", "One actor: counters, and what it says of itself");
  show.option("ACTOR", flags->id,
              "Its id or the beginning of it, a request's id, or a kind of which there is one")
      .required();
  show.flag("--json", flags->json, "As the node says it");
  show.run([flags] {
    return print_table(*flags, "/admin/actors/" + actor_name(flags->id), format_actor);
  });

  cli::Command nodes = admin.command("nodes", "This node, its peers, and those lost lately");
  nodes.flag("--json", flags->json, "As the node says it");
  nodes.run([flags] { return print_table(*flags, "/admin/nodes", format_nodes); });
}

void add_orders(cli::Command& admin, const std::shared_ptr<AdminFlags>& flags) {
  cli::Command cancel = admin.command("cancel", "End a request; its client gets an error");
  cancel.option("REQUEST", flags->id, "The id of its answer, its number, or the id of `ps`")
      .required();
  cancel.flag("--json", flags->json, "Print what the node says");
  cancel.run([flags] {
    return order(*flags, "/admin/requests/" + actor_name(flags->id) + "/cancel",
                 "cancelling: the request ends, its client gets an error");
  });

  cli::Command drain =
      admin.command("drain", "Refuse new requests, finish the running ones, end the node");
  drain.flag("--json", flags->json, "Print what the node says");
  drain.run([flags] {
    return order(*flags, "/admin/drain",
                 "draining: the node refuses new requests and ends with the running ones");
  });
}

}  // namespace

void add_admin_command(cli::Command& program) {
  auto flags = std::make_shared<AdminFlags>();
  if (const char* token = std::getenv("TROUPE_ADMIN_TOKEN")) flags->target.token = token;
  cli::Command admin = program.command("admin", "Look into a running node");
  admin.require_command();
  admin.option("--url", flags->target.url, "The node's admin port").show_default();
  admin.option("--token", flags->target.token, "Or TROUPE_ADMIN_TOKEN");

  cli::Command list = admin.command("ps", "List the actors");
  add_list_options(list, *flags);
  list.flag("--json", flags->json, "As the node says it");
  list.run([flags] { return ps(*flags); });

  cli::Command live = admin.command("top", "Watch the actors and the devices' load, with rates");
  add_list_options(live, *flags);
  live.option("--interval", flags->interval, "Seconds between samples").between(0.1, 3600);
  live.option("--rounds", flags->rounds, "End after so many samples (0: never)");
  live.run([flags] { return top(*flags); });

  add_questions(admin, flags);
  add_orders(admin, flags);
}

}  // namespace troupe
