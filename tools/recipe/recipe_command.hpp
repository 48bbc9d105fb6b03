// `troupe recipe`: what the library makes of requests and of a model's tokens, from the command
// line: to debug a prompt, or to check a build against vectors.
//
//   encode  requests → token ids          render  requests → prompts and their special ranges
//   parse   streams of chunks → events    check   vectors → passed or failed, and why
//
// Input: JSON or JSON Lines in the form of the vectors (vector.hpp), from files or stdin. Output of
// the first three: the same vectors with what came out as "expect", so that one build's output
// checks another.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_recipe_command(cli::Command& program);

}  // namespace troupe
