#include "tools/model/derive.hpp"

#include <fstream>
#include <sstream>
#include <utility>

#include "tools/model/command.hpp"

namespace troupe {
namespace {

constexpr Duration kDeriveDeadline = seconds(30 * 60);
constexpr Duration kScriptDeadline = seconds(5 * 60);
constexpr std::size_t kTailBytes = 1000;

std::string tail_of(const std::string& output) {
  return output.size() > kTailBytes ? output.substr(output.size() - kTailBytes) : output;
}

Status write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) return Error{Code::kIo, "cannot write " + path};
  return ok_status();
}

/// "name==version --hash=sha256:..." for each wheel that there is.
std::string hashed_requirement(const PackSource& source) {
  std::string line(source.requirement);
  for (const auto hash : source.package_sha256) {
    if (!hash.empty()) line.append(" --hash=sha256:").append(hash);
  }
  return line + "\n";
}

Status install(const PackSource& source, std::vector<std::string> pip, const std::string& site,
               const std::string& requirements) {
  TROUPE_TRY(write_file(requirements, hashed_requirement(source)));
  for (const auto* argument :
       {"install", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--no-input",
        "--disable-pip-version-check", "--no-warn-script-location", "--progress-bar", "off",
        "--root-user-action", "ignore"}) {
    pip.emplace_back(argument);
  }
  pip.insert(pip.end(), {"--target", site, "-r", requirements});
  TROUPE_TRY_ASSIGN(const CommandResult result, run_command(pip, kDeriveDeadline));
  if (result.exit_code == 0) return ok_status();
  return pip_error(source.requirement, result.exit_code, result.output);
}

}  // namespace

Status rename_token(const std::string& path, const RenamedToken& renamed) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  std::string content = std::move(text).str();
  const std::size_t at = content.find(renamed.from);
  if (at == std::string::npos || content.find(renamed.from, at + 1) != std::string::npos) {
    return Error{Code::kCorrupt,
                 path + " does not have " + std::string(renamed.from) + " exactly once"};
  }
  content.replace(at, renamed.from.size(), renamed.to);
  return write_file(path, content);
}

Status derive_prompt_pack(const PackSource& source, const PythonCommands& commands,
                          const std::string& folder, const std::string& path) {
  const std::string site = folder + "/site";
  TROUPE_TRY(install(source, commands.pip, site, folder + "/requirements.txt"));
  const std::string script = folder + "/derive_prompt_pack.py";
  TROUPE_TRY(write_file(script, kDeriveScript));
  std::vector<std::string> command = commands.python;
  command.insert(command.end(), {"-I", "-B", script, site, path});
  TROUPE_TRY_ASSIGN(const CommandResult result, run_command(command, kScriptDeadline));
  if (result.exit_code == 0) return ok_status();
  return Error{Code::kUnavailable, tail_of(result.output) +
                                       "\nthe prompt pack could not be derived "
                                       "from " +
                                       std::string(source.requirement) + " (exit code " +
                                       std::to_string(result.exit_code) +
                                       "). It needs Python 3.10 or newer on Linux, x86-64 or Arm."};
}

Error pip_error(std::string_view requirement, int exit_code, const std::string& output) {
  const auto said = [&](std::string_view part) { return output.find(part) != std::string::npos; };
  std::string advice = "See what pip said above it.";
  if (said("No module named pip")) {
    advice = "This Python has no pip: install it (Debian: apt-get install python3-pip).";
  } else if (said("No space left on device")) {
    advice = "The disk is full: free some space, or set TROUPE_CACHE to another disk.";
  } else if (said("DO NOT MATCH THE HASHES")) {
    advice =
        "The package is not the one that was pinned. Do not use it; if a package mirror is "
        "configured, ask its owner, else report this.";
  } else if (said("No matching distribution") || said("Could not find a version") ||
             said("onnection") || said("Temporary failure in name resolution")) {
    advice =
        "Is this machine online, and may it reach a package index (a proxy or mirror is set "
        "with pip config)?";
  }
  return Error{Code::kUnavailable, tail_of(output) + "\npip could not download " +
                                       std::string(requirement) + " (exit code " +
                                       std::to_string(exit_code) + "). " + advice};
}

}  // namespace troupe
