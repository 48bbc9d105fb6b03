#include "actors/load/line_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace troupe {

namespace {
constexpr std::size_t kPiece = 256u << 10;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
}  // namespace

Result<LineReader> LineReader::open(const std::string& path) {
  gzFile_s* file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    return Error{errno == ENOENT ? Code::kNotFound : Code::kIo,
                 "cannot read " + path + ": " + std::strerror(errno)};
  }
  return LineReader(path, file);
}

LineReader::LineReader(LineReader&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, nullptr)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      seen_(other.seen_),
      line_(other.line_),
      ended_(other.ended_) {}

LineReader::~LineReader() {
  if (file_ != nullptr) gzclose(file_);
}

Result<bool> LineReader::fill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  seen_ -= begin_;
  begin_ = 0;
  const std::size_t before = buffer_.size();
  if (before > kLineMax) {
    return Error{Code::kInvalid, path_ + ":" + std::to_string(line_ + 1) +
                                     ": a line of more than 8 MiB; is this a trace?"};
  }
  buffer_.resize(before + kPiece);
  const int got = gzread(file_, buffer_.data() + before, kPiece);
  buffer_.resize(before + static_cast<std::size_t>(std::max(0, got)));
  int code = Z_OK;
  const char* why = gzerror(file_, &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    return Error{code == Z_ERRNO ? Code::kIo : Code::kInvalid,
                 path_ + ":" + std::to_string(line_ + 1) +
                     ": reading failed: " + (code == Z_ERRNO ? std::strerror(errno) : why)};
  }
  ended_ = got == 0;
  return !ended_;
}

Result<std::optional<std::string_view>> LineReader::next() {
  TROUPE_TRY_ASSIGN(auto text, next_as_written());
  if (text && line_ == 1 && text->starts_with(kByteOrderMark)) {
    text->remove_prefix(kByteOrderMark.size());
  }
  return text;
}

Result<std::optional<std::string_view>> LineReader::next_as_written() {
  for (;;) {
    const std::size_t end = buffer_.find('\n', seen_);
    if (end != std::string::npos) {
      std::string_view text(buffer_.data() + begin_, end - begin_);
      begin_ = seen_ = end + 1;
      ++line_;
      if (text.ends_with('\r')) text.remove_suffix(1);
      return std::optional(text);
    }
    seen_ = buffer_.size();
    TROUPE_TRY_ASSIGN(const bool more, fill());
    if (more) continue;
    if (begin_ == buffer_.size()) return std::optional<std::string_view>();
    const std::string_view rest(buffer_.data() + begin_, buffer_.size() - begin_);
    begin_ = seen_ = buffer_.size();
    ++line_;
    return std::optional(rest);
  }
}

}  // namespace troupe
