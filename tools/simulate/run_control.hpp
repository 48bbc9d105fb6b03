// Drives a simulated run from the command line: to its end, to a point of virtual time, or step by
// step from a prompt.
//
//   step [N]      the next event, or the next N; each is shown
//   until TIME    on to a point of virtual time: 12.5s, 300ms, 12.5 (seconds)
//   show          where the run is, and what its actors are at
//   replay [TIME] begins anew with the same seed, and runs up to that time (or up to now)
//   back [N]      likewise, up to N events before this one
//   continue      on to the next pause, or to the end
//   quit          ends here; the report says what was measured until then
//
// Commands come from a stream, a terminal's or a pipe's; its end means `continue`. A run is the
// same whether or not it was paused. Threads: one.
#pragma once

#include <cstdio>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "tools/cli/command.hpp"
#include "tools/simulate/driven_run.hpp"
#include "tools/simulate/run_progress.hpp"

namespace troupe {

/// "12.5s", "300ms", "12.5" (seconds): up to 292 years.
Result<Duration> parse_moment(std::string_view text);

struct RunControlFlags {
  std::string run_until;  ///< as written; empty: to the end
  std::string pause_at;   ///< as written; empty: no pause
  bool step = false;      ///< pause before the first event
  bool progress = false;  ///< also where stderr is no terminal

  void add(cli::Command& command);
  bool prompts() const { return step || !pause_at.empty(); }
};

/// Remembers the last event of a run, for `step`.
class LastEvent {
 public:
  void see(Time now, const Envelope& envelope) {
    at_ = now;
    envelope_ = envelope;
  }
  /// "0.001051 s  start_prefill{…}  from … to …"; empty: none was.
  std::string text() const;

 private:
  Time at_;
  std::optional<Envelope> envelope_;
};

class RunControl {
 public:
  /// A fresh run of the same seed; what it makes lives until it is called again.
  using Make = std::function<Result<DrivenRun*>()>;

  /// `in`: commands; `out`: what they say. Errors: times that cannot be read.
  static Result<RunControl> make(const RunControlFlags& flags, Make make_run, const LastEvent& last,
                                 std::istream& in, std::FILE* out);

  /// True: the run came to its end and was finished. False: it was left before.
  /// Errors: kDeadline, if the load does not end.
  Result<bool> drive();

 private:
  enum class Next : std::uint8_t { kGo, kPause, kQuit };

  RunControl(Make make_run, const LastEvent& last, std::istream& in, std::FILE* out)
      : make_run_(std::move(make_run)), last_(&last), in_(&in), out_(out) {}

  /// Reads and carries out commands until one lets the run go on, or leaves it.
  Result<Next> prompt();
  Result<Next> obey(const std::string& line);
  void step(std::uint64_t count);
  /// Up to the load's end.
  void run_to(Time until);
  Time next_slice();
  Status replay(Time until, std::uint64_t events);
  void show();
  void where();
  void say(const std::string& line);

  Make make_run_;
  const LastEvent* last_;
  std::istream* in_;
  std::FILE* out_;
  DrivenRun* run_ = nullptr;
  bool step_first_ = false;
  bool show_progress_ = false;
  std::optional<Time> leave_at_;
  std::optional<Time> pause_at_;
};

}  // namespace troupe
