#include "runtime/store/record_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace troupe {

namespace {

constexpr std::string_view kMagic = "TRPLOG1\n";
constexpr std::size_t kHead = 8;  ///< length and checksum

std::uint32_t checksum(std::uint32_t length, std::string_view payload) {
  const auto* head = reinterpret_cast<const Bytef*>(&length);
  const auto* body = reinterpret_cast<const Bytef*>(payload.data());
  const uLong seed = crc32(crc32(0, nullptr, 0), head, sizeof length);
  return static_cast<std::uint32_t>(crc32(seed, body, static_cast<uInt>(payload.size())));
}

void append_framed(std::string& out, std::string_view payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  const std::uint32_t sum = checksum(length, payload);
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  out.append(payload);
}

Error io_error(const std::string& what, const std::string& path) {
  return {Code::kIo, what + " " + path + ": " + std::strerror(errno)};
}

/// All of `bytes` at `offset`.
bool write_at(int file, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t wrote = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    offset += static_cast<std::uint64_t>(wrote);
  }
  return true;
}

/// Up to `count` bytes at `offset`; fewer at the end of the file.
Result<std::string> read_at(int file, std::size_t count, std::uint64_t offset,
                            const std::string& path) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t got =
        pread(file, bytes.data() + have, count - have, static_cast<off_t>(offset + have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_error("cannot read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

/// A new name in a folder outlives a loss of power once its folder is synced.
bool sync_folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool synced = fsync(file) == 0;
  close(file);
  return synced;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

RecordLog::RecordLog(std::string path, std::uint32_t record_max, int file)
    : path_(std::move(path)), record_max_(record_max), file_(file) {}

RecordLog::RecordLog(RecordLog&& other) noexcept
    : path_(std::move(other.path_)),
      record_max_(other.record_max_),
      file_(std::exchange(other.file_, -1)),
      bytes_(other.bytes_),
      damage_(other.damage_) {}

RecordLog& RecordLog::operator=(RecordLog&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(record_max_, other.record_max_);
  std::swap(file_, other.file_);
  std::swap(bytes_, other.bytes_);
  std::swap(damage_, other.damage_);
  return *this;
}

RecordLog::~RecordLog() {
  if (file_ >= 0) close(file_);
}

Result<RecordLog> RecordLog::open(const std::string& path, std::uint32_t record_max,
                                  const std::function<void(std::string_view)>& record) {
  // Only its owner may read what clients said.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return io_error("cannot open", path);
  RecordLog log(path, record_max, file);
  struct stat about {};
  if (fstat(file, &about) != 0) return io_error("cannot look at", path);
  if (!S_ISREG(about.st_mode)) return Error{Code::kCorrupt, path + " is not a plain file"};
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    return Error{Code::kUnavailable, path + " is in use by another process"};
  }
  if (about.st_size == 0) {
    if (!write_at(file, kMagic, 0) || !sync_folder_of(path)) return io_error("cannot write", path);
    log.bytes_ = kMagic.size();
    return log;
  }
  TROUPE_TRY_ASSIGN(const std::string magic, read_at(file, kMagic.size(), 0, path));
  if (magic != kMagic) {
    return Error{Code::kCorrupt, path + " is not a log of records; move it away"};
  }
  TROUPE_TRY(log.read_all(record));
  return log;
}

Status RecordLog::read_all(const std::function<void(std::string_view)>& record) {
  struct stat about {};
  if (fstat(file_, &about) != 0) return io_error("cannot look at", path_);
  const auto size = static_cast<std::uint64_t>(about.st_size);
  bytes_ = kMagic.size();
  while (bytes_ + kHead <= size) {
    TROUPE_TRY_ASSIGN(const std::string head, read_at(file_, kHead, bytes_, path_));
    if (head.size() < kHead) break;
    const std::uint32_t length = number_at(head, 0);
    if (bytes_ + kHead + length > size) break;
    // Too long for what is kept today: skipped, not the end of all that follows.
    bool whole = length <= record_max_;
    if (whole) {
      TROUPE_TRY_ASSIGN(const std::string payload, read_at(file_, length, bytes_ + kHead, path_));
      if (payload.size() < length) break;
      whole = checksum(length, payload) == number_at(head, sizeof length);
      if (whole) record(payload);
    }
    ++(whole ? damage_.records : damage_.skipped);
    bytes_ += kHead + length;
  }
  damage_.cut_bytes = size - bytes_;
  return damage_.cut_bytes == 0 ? ok_status() : cut_off_tail();
}

/// What cannot be read is kept beside the log: it may be more than a record that was torn.
Status RecordLog::cut_off_tail() {
  const std::string path = path_ + ".damaged";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return io_error("cannot create", path);
  constexpr std::size_t kPiece = 1 << 20;
  bool copied = true;
  for (std::uint64_t at = 0; at < damage_.cut_bytes && copied; at += kPiece) {
    const auto piece = read_at(file_, kPiece, bytes_ + at, path_);
    copied = piece.ok() && write_at(file, *piece, at);
  }
  close(file);
  if (!copied) return io_error("cannot write", path);
  if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0) return io_error("cannot cut", path_);
  return ok_status();
}

Status RecordLog::append(std::span<const std::string> records) {
  std::string framed;
  for (const auto& record : records) append_framed(framed, record);
  if (!write_at(file_, framed, bytes_) || fdatasync(file_) != 0) {
    const Error error = io_error("cannot write", path_);
    // Half of a record must not stand before the next one.
    if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0) return io_error("cannot cut", path_);
    return error;
  }
  bytes_ += framed.size();
  return ok_status();
}

Status RecordLog::rewrite(std::span<const std::string> records) {
  const std::string path = path_ + ".new";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return io_error("cannot create", path);
  RecordLog fresh(path_, record_max_, file);
  std::string content(kMagic);
  for (const auto& record : records) append_framed(content, record);
  const bool written = flock(file, LOCK_EX | LOCK_NB) == 0 && write_at(file, content, 0) &&
                       fdatasync(file) == 0 && ::rename(path.c_str(), path_.c_str()) == 0 &&
                       sync_folder_of(path_);
  if (!written) {
    const Error error = io_error("cannot write", path);
    unlink(path.c_str());
    return error;
  }
  fresh.bytes_ = content.size();
  fresh.damage_ = damage_;
  *this = std::move(fresh);
  return ok_status();
}

}  // namespace troupe
