#include "runtime/observe/access_writer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <utility>

#include "runtime/observe/access_line.hpp"

namespace troupe {

namespace {

/// A pipe that says it is writable takes so much without blocking (POSIX): stdout and stderr are
/// shared with others, who would feel an O_NONBLOCK.
constexpr std::size_t kPieceBytes = PIPE_BUF;

/// Readable by its owner and group: lines say who called.
constexpr int kMode = 0640;

Result<int> open_target(const std::string& target) {
  if (target == "stdout") return STDOUT_FILENO;
  if (target == "stderr") return STDERR_FILENO;
  const int file =
      ::open(target.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, kMode);
  if (file >= 0) return file;
  return Error{Code::kInvalid, "observe.access_log: cannot open " + target + " (" +
                                   std::strerror(errno) +
                                   "); name a file in a folder that exists and may be written"};
}

}  // namespace

Result<std::unique_ptr<AccessWriter>> AccessWriter::open(const std::string& target,
                                                         Callbacks callbacks) {
  TROUPE_TRY_ASSIGN(const int file, open_target(target));
  return std::unique_ptr<AccessWriter>(new AccessWriter(target, file, std::move(callbacks)));
}

AccessWriter::AccessWriter(std::string target, int file, Callbacks callbacks)
    : target_(std::move(target)),
      file_(file),
      callbacks_(std::move(callbacks)),
      thread_([this] { work(); }) {}

AccessWriter::~AccessWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
  if (is_file()) ::close(file_);
}

void AccessWriter::reopen() {
  const std::lock_guard lock(mutex_);
  reopen_ = true;
  changed_.notify_one();
}

void AccessWriter::work() {
  constexpr std::chrono::nanoseconds kWait(kPeriod.value);
  std::unique_lock lock(mutex_);
  bool stopping = false;
  while (!stopping) {
    changed_.wait_for(lock, kWait, [&] { return stopping_ || reopen_; });
    stopping = stopping_;
    const bool reopen = std::exchange(reopen_, false);
    lock.unlock();
    write_batch();  // what was there before the file was moved belongs to the old one
    if (reopen) open_anew();
    lock.lock();
  }
}

void AccessWriter::write_batch() {
  std::uint64_t lost = callbacks_.take(batch_);
  if (torn_ && !batch_.empty()) text_ += '\n';
  for (const AccessRecord& record : batch_) append_access_line(text_, record);
  if (!write_all(text_)) lost += batch_.size();
  batch_.clear();
  text_.clear();
  if (text_.capacity() > (1u << 20)) text_.shrink_to_fit();
  if (lost > 0) callbacks_.lost(lost);
}

bool AccessWriter::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd ready{file_, POLLOUT, 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(kStuck.milliseconds()));
    if (polled < 0 && errno == EINTR) continue;
    const std::size_t piece = std::min(bytes.size(), kPieceBytes);
    const ssize_t count = polled > 0 ? ::write(file_, bytes.data(), piece) : -1;
    if (count < 0 && polled > 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) {
      const char* why = polled == 0 ? "nobody reads it" : std::strerror(errno);
      if (!failing_) callbacks_.complain("cannot write to " + target_ + ": " + why);
      failing_ = true;
      return false;
    }
    torn_ = count > 0 && bytes[static_cast<std::size_t>(count) - 1] != '\n';
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  failing_ = false;
  return true;
}

void AccessWriter::open_anew() {
  if (!is_file()) return;
  const auto file = open_target(target_);
  if (!file.ok()) return callbacks_.complain(file.error().message);
  ::close(file_);
  file_ = *file;
}

}  // namespace troupe
