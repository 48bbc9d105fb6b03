// The table of load flags: what each is called, what it means, and how its text changes a plan.
//
// One row serves the command line (`--isl 512`), a load file (`isl: 512`) and the help. Rows that
// change others' values stand behind them and are taken in this order: `--isl-stddev` after
// `--isl`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "actors/traffic/traffic_plan.hpp"

namespace troupe {

struct LoadFlag {
  const char* name;   ///< "isl"
  const char* alias;  ///< the name that other load generators have for the same; "" for none
  const char* value;  ///< what the help calls the value
  const char* about;
  Status (*take)(const std::string& text, TrafficPlan& plan);
  enum class Values : std::uint8_t {
    kLast,   ///< of several the last one counts
    kEach,   ///< may be given several times, in order
    kWords,  ///< several values are one text
  };
  Values values = Values::kLast;
};

std::span<const LoadFlag> load_flags();
/// Null if there is none. `name` without dashes before it.
const LoadFlag* find_load_flag(std::string_view name);

}  // namespace troupe
