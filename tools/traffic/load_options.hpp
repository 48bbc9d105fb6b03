// The load flags of a command, and the plan that they make: `troupe traffic`, `simulate` and `plan`
// have the same ones.
//
// Precedence: flag, then --load FILE, then what the plan says already. Phases and a trace say when
// requests come and when that ends, so that they replace the plan's own rate and end. A load file
// has one section whose keys are the flags' names (load_table.hpp), with "_" or "-":
//
//   load:
//     phase: ["60:5", "120:5..50", "600:50"]
//     isl: lognormal:2000:1.2
//     turns: uniform:1:8
//     think_time: exponential:10
//     prefix_groups: 20
//     prefix_len: 4000
//
// A trace's and a distribution's file are named from the working directory. Errors name the flag,
// or the file with line and column. A load file has at most 256 KiB.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/traffic/load_table.hpp"

namespace troupe {

/// Changes a plan by a load file's text. `name` is for messages.
Status take_load_file(const std::string& name, const std::string& text, TrafficPlan& plan);
/// What was not said at all: one user if nobody says how many, 100 requests if nothing is an end.
void complete(TrafficPlan& plan);

class LoadOptions {
 public:
  explicit LoadOptions(cli::Command& command);
  LoadOptions(const LoadOptions&) = delete;
  LoadOptions& operator=(const LoadOptions&) = delete;

  /// What the flags make of `plan`: complete, and possible (check_plan).
  Result<TrafficPlan> plan(TrafficPlan plan = {}) const;
  /// What flags name for reading.
  std::vector<std::string> files() const;
  /// Whether this flag was given ("isl"); a load file's keys do not count.
  bool given(std::string_view name) const;
  /// Those that were given, but for the seed, as they are to be written to say the same again:
  /// " --isl '512' --phase '60:5'". Empty: none.
  std::string words() const;

 private:
  struct Given {
    const LoadFlag* flag;
    std::vector<std::string> texts;
  };
  /// Flags that contradict each other, or mean nothing without another.
  Status check_given() const;

  std::string file_;
  std::deque<Given> given_;  ///< in the table's order; a deque: options keep pointers
};

}  // namespace troupe
