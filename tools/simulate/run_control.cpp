#include "tools/simulate/run_control.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "runtime/simulation/formatted.hpp"
#include "tools/simulate/assembly.hpp"

namespace troupe {

namespace {

constexpr double kMomentMost = 9e9;  ///< seconds; a Time holds a little more
constexpr const char* kLoadEnded = "the load has ended; `continue` looks at what is left";
constexpr std::uint64_t kStepsMost = 1'000'000;
const char* const kCommands = "step [N], until TIME, show, replay [TIME], back [N], continue, quit";

Result<std::uint64_t> parse_count(const std::string& text) {
  if (text.empty()) return std::uint64_t{1};
  char* end = nullptr;
  const unsigned long long count = std::strtoull(text.c_str(), &end, 10);
  if (text[0] == '-' || *end != '\0' || count == 0 || count > kStepsMost) {
    return Error{Code::kInvalid,
                 "a number from 1 to " + std::to_string(kStepsMost) + " is expected, not " + text};
  }
  return std::uint64_t{count};
}

std::string seconds_text(Time at) {
  return formatted("%.9f s", (at - Time()).seconds());
}

}  // namespace

Result<Duration> parse_moment(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  const std::string_view unit(end);
  if (unit == "ms") value /= 1e3;
  const bool known = unit.empty() || unit == "s" || unit == "ms";
  if (end == copy.c_str() || !known || !(value >= 0 && value <= kMomentMost)) {
    return Error{Code::kInvalid, "a time such as 12.5s or 300ms is expected, not " + copy};
  }
  return from_seconds(value);
}

void RunControlFlags::add(cli::Command& command) {
  command.option("--run-until", run_until, "end the run at this virtual time, e.g. 12.5s")
      .value_name("TIME");
  command.option("--pause-at", pause_at, "pause at this virtual time, and ask what to do")
      .value_name("TIME");
  command.flag("--step", step, "pause before the first event, and ask what to do");
  command.flag("--progress", progress, "show how far the run is, also where stderr is no terminal");
}

std::string LastEvent::text() const {
  if (!envelope_) return {};
  std::string text = seconds_text(at_) + "  " + envelope_->message.describe();
  if (envelope_->from) text += "  from " + to_string(envelope_->from);
  return text + "  to " + to_string(envelope_->to);
}

Result<RunControl> RunControl::make(const RunControlFlags& flags, Make make_run,
                                    const LastEvent& last, std::istream& in, std::FILE* out) {
  RunControl control(std::move(make_run), last, in, out);
  const auto read = [](const char* flag, const std::string& text) -> Result<std::optional<Time>> {
    if (text.empty()) return std::optional<Time>();
    const auto at = parse_moment(text);
    if (!at.ok()) return Error{Code::kInvalid, std::string(flag) + ": " + at.error().message};
    return std::optional<Time>(Time() + *at);
  };
  TROUPE_TRY_ASSIGN(control.leave_at_, read("--run-until", flags.run_until));
  TROUPE_TRY_ASSIGN(control.pause_at_, read("--pause-at", flags.pause_at));
  control.step_first_ = flags.step;
  control.show_progress_ = flags.progress || isatty(STDERR_FILENO) != 0;
  return control;
}

Result<bool> RunControl::drive() {
  TROUPE_TRY_ASSIGN(run_, make_run_());
  RunProgress progress(show_progress_);
  Next next = step_first_ ? Next::kPause : Next::kGo;
  for (;;) {
    if (next == Next::kPause) {
      progress.clear();
      TROUPE_TRY_ASSIGN(next, prompt());
    }
    if (next == Next::kQuit) return false;
    if (run_->ended()) break;
    const Time now = run_->world().now();
    if (now >= Time() + SimulatedCluster::kLongest) {
      return Error{Code::kDeadline, "the load did not end; " +
                                        std::to_string(run_->traffic().live()) +
                                        " requests are under way"};
    }
    Time goal = next_slice();
    if (leave_at_) goal = std::min(goal, std::max(now, *leave_at_));
    if (pause_at_) goal = std::min(goal, std::max(now, *pause_at_));
    run_->run_until(goal);
    progress.show(*run_);
    if (leave_at_ && goal >= *leave_at_) return false;
    if (pause_at_ && goal >= *pause_at_) {
      pause_at_.reset();
      next = Next::kPause;
    }
  }
  // An undisturbed run looks for the load's end between slices.
  if (run_->world().now().value % run_->slice().value != 0) run_->run_until(next_slice());
  run_->finish();
  return true;
}

Result<RunControl::Next> RunControl::prompt() {
  where();
  std::string line;
  for (;;) {
    if (in_ == nullptr || !std::getline(*in_, line)) return Next::kGo;
    const auto next = obey(line);
    if (next.ok() && *next != Next::kPause) return *next;
    if (!next.ok()) say(next.error().message);
  }
}

Result<RunControl::Next> RunControl::obey(const std::string& line) {
  std::istringstream words(line);
  std::string command, argument;
  words >> command >> argument;
  if (command.empty()) return Next::kPause;
  if (command == "continue") return Next::kGo;
  if (command == "quit") return Next::kQuit;
  if (command == "show") {
    show();
  } else if (command == "step") {
    TROUPE_TRY_ASSIGN(const std::uint64_t count, parse_count(argument));
    step(count);
  } else if (command == "until") {
    TROUPE_TRY_ASSIGN(const Duration at, parse_moment(argument));
    if (Time() + at < run_->world().now()) {
      return Error{Code::kInvalid, "that time is over; `replay` goes back to it"};
    }
    run_to(Time() + at);
    where();
  } else if (command == "replay") {
    Time until = run_->world().now();
    if (!argument.empty()) {
      TROUPE_TRY_ASSIGN(const Duration at, parse_moment(argument));
      until = Time() + at;
    }
    TROUPE_TRY(replay(until, ~std::uint64_t{0}));
  } else if (command == "back") {
    TROUPE_TRY_ASSIGN(const std::uint64_t count, parse_count(argument));
    const std::uint64_t events = run_->world().events();
    TROUPE_TRY(replay(run_->world().now(), events - std::min(events, count)));
  } else {
    return Error{Code::kInvalid, "no command is called " + command + "; there are " + kCommands};
  }
  return Next::kPause;
}

Time RunControl::next_slice() {
  // Slices do not begin anew where somebody paused.
  const std::int64_t slice = run_->slice().value;
  return Time((run_->world().now().value / slice + 1) * slice);
}

void RunControl::run_to(Time until) {
  while (run_->world().now() < until) {
    if (run_->ended()) return say(kLoadEnded);
    run_->run_until(std::min(until, next_slice()));
  }
}

void RunControl::step(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (run_->ended()) return say(kLoadEnded);
    const std::uint64_t before = run_->world().events();
    if (!run_->step()) return say("nothing is left to happen");
    // A fault, or a look at the rules, is a step without an event.
    say(run_->world().events() == before
            ? seconds_text(run_->world().now()) + "  (a fault, or rules)"
            : last_->text());
  }
}

Status RunControl::replay(Time until, std::uint64_t events) {
  TROUPE_TRY_ASSIGN(run_, make_run_());
  if (events == ~std::uint64_t{0}) {
    run_->run_until(until);
  } else {
    while (run_->world().events() < events && run_->step()) {
    }
  }
  where();
  return ok_status();
}

void RunControl::where() {
  const TrafficCore& traffic = run_->traffic();
  say(formatted("at %.9f s: %llu events, %llu pending; requests: %llu started, %u live, %llu ended",
                (run_->world().now() - Time()).seconds(),
                static_cast<unsigned long long>(run_->world().events()),
                static_cast<unsigned long long>(run_->world().pending()),
                static_cast<unsigned long long>(traffic.started()), traffic.live(),
                static_cast<unsigned long long>(traffic.report().total())));
}

void RunControl::show() {
  where();
  for (const ActorRef& ref : run_->notable()) {
    const Actor* actor = run_->world().find(ref);
    if (actor == nullptr) continue;
    say(formatted("  %-18s %-10s ", actor->kind(), actor->phase()) + actor->describe() + "  (" +
        to_string(ref) + ")");
  }
}

void RunControl::say(const std::string& line) {
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
}

}  // namespace troupe
