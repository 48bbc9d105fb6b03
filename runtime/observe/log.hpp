// The node's log: lines for people, or one JSON object a line.
//
//   12:03:04.123 I rank_joined 0.1/7f3a…#1
//   {"ts":"…","level":"info","event":"rank_joined","text":"…"}
//
// Threads: any. Goes to stderr, so that stdout stays for results.
#pragma once

#include <string>
#include <string_view>

namespace troupe::logging {

/// trace, debug, info, warn, error, off. Requires: one of these.
void start(std::string_view level, bool json);

void info(std::string_view event, std::string_view text);
void warn(std::string_view event, std::string_view text);
void error(std::string_view event, std::string_view text);

}  // namespace troupe::logging
