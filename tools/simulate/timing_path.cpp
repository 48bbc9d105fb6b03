#include "tools/simulate/timing_path.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tools/model/store.hpp"

namespace troupe {

namespace {

std::string names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    if (file.path().extension() == ".json") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Result<std::string> timing_path(const std::string& file_or_name) {
  std::error_code none;
  if (std::filesystem::is_regular_file(file_or_name, none)) return file_or_name;
  TROUPE_TRY_ASSIGN(const StoreOptions options, store_options_from_environment());
  const auto folder = std::filesystem::path(options.root) / "timing";
  const auto made = folder / (file_or_name + ".json");
  if (file_or_name.find('/') == std::string::npos && std::filesystem::is_regular_file(made, none)) {
    return made.string();
  }
  const std::string names = names_in(folder);
  return Error{Code::kNotFound, "--timing: there is no file or table " + file_or_name +
                                    (names.empty() ? "" : "; there are " + names) +
                                    "; formula:v41 needs none, `tools/export-timing --list` "
                                    "names those that can be made"};
}

}  // namespace troupe
