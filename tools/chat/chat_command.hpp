// `troupe chat`: talks to a running node, or starts one for the length of the talk.
//
// Ctrl-C ends the answer that is under way, not the talk; at the prompt it ends the talk. /reset
// forgets the conversation, /quit or the end of input ends it.
#pragma once

#include "tools/cli/command.hpp"

namespace troupe {

void add_chat_command(cli::Command& program);

}  // namespace troupe
