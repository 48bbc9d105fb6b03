// Files that no package has as they are: made at set-up from what packages have.
//
// A prompt pack is what the reference implementation says when it is asked (derive_prompt_pack.py).
// Its package is installed by pip into a folder that is thrown away, after pip has compared it with
// the pinned hashes; only then does its code run, as the user, in a Python without other packages.
//
// Threads: any, no state is kept. Deadline: 30 minutes for pip, 5 for the script.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tools/model/catalogue.hpp"

namespace troupe {

/// derive_prompt_pack.py, which travels inside of the program.
extern const std::string_view kDeriveScript;

/// How Python and pip are called.
struct PythonCommands {
  std::vector<std::string> pip = {"python3", "-m", "pip"};
  std::vector<std::string> python = {"python3"};
};

/// Replaces `renamed.from` in the file, in place. kCorrupt if it is not there exactly once.
Status rename_token(const std::string& path, const RenamedToken& renamed);

/// Makes the pack at `path`, working in `folder`, which exists and is the caller's to remove.
Status derive_prompt_pack(const PackSource& source, const PythonCommands& commands,
                          const std::string& folder, const std::string& path);

/// Why pip failed, by what it said, and what to do about it.
Error pip_error(std::string_view requirement, int exit_code, const std::string& output);

}  // namespace troupe
