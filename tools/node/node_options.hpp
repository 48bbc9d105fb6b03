// The flags of `troupe node`: one a key of the configuration, and --config, --dump-config.
//
// Flags are only collected here; typing, limits, precedence and refusals are the schema's
// (tools/config), so that a flag, a variable and a YAML key obey the same rule and message.
//
//   NodeOptions options(*command);              // before parsing
//   TROUPE_TRY_ASSIGN(auto loaded, options.load());  // in the callback
//   if (options.wants_dump()) print(loaded.dump);
//
// Ownership: parsing writes into this object that must outlive it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "runtime/base/result.hpp"
#include "tools/cli/command.hpp"
#include "tools/config/node_schema.hpp"

namespace troupe {

class NodeOptions {
 public:
  explicit NodeOptions(cli::Command& command);
  NodeOptions(const NodeOptions&) = delete;
  NodeOptions& operator=(const NodeOptions&) = delete;

  bool wants_dump() const { return dump_; }

  /// Reads --config (or TROUPE_CONFIG, or the built-in laptop.yaml) and the process's environment.
  Result<config::LoadedNodeConfig> load() const;

 private:
  struct Given {
    std::string flag;
    std::string text;
    std::optional<cli::Option> option;
  };
  std::string config_file_;
  bool dump_ = false;
  std::deque<Given> given_;  // a deque: options keep pointers to the texts
};

/// The text of a file of at most 1 MiB; the error says what to do about a missing one.
Result<config::ConfigText> read_config_file(const std::string& path);

}  // namespace troupe
