// The table of actors that `troupe admin ps` and `top` print. Pure: JSON in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace troupe {

struct ActorLine {
  std::string id, kind, phase, parent;
  std::string request;  ///< the id that its client sees, of a request's actor
  double mailbox = 0, in = 0, out = 0, busy_ms = 0, longest_us = 0;
  double in_rate = 0;       ///< messages a second since the previous sample
  double busy_percent = 0;  ///< of one core, since the previous sample
};

enum class ActorSort { kBusy, kMailbox, kIn, kLongest, kKind };

Result<std::vector<ActorLine>> parse_actors(std::string_view json);
/// Fills the rates from an earlier sample taken `seconds` before.
void add_rates(std::vector<ActorLine>& now, const std::vector<ActorLine>& before, double seconds);
/// Only those of the kind. kInvalid, naming the kinds there are, if it is none of them; there may
/// be no request.
Result<std::vector<ActorLine>> of_kind(std::vector<ActorLine> actors, const std::string& kind);
/// The first `count` (0: all) in order, one line each behind a header.
std::string format_actors(std::vector<ActorLine> actors, ActorSort sort, std::size_t count,
                          bool rates);
/// Each line's first `width` characters.
std::string cut_lines(std::string_view text, std::size_t width);

}  // namespace troupe
