// The lines of a text file, plain or gzip, in bounded memory. A byte-order mark at its start is
// no part of its first line.
//
// Errors name the file and the line: kInvalid for what the file holds (a line that is too long, a
// gzip file that was cut), kIo for a disk that fails. Bounds: a line of at most kLineMax bytes.
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

struct gzFile_s;

namespace troupe {

class LineReader {
 public:
  /// A row of a million prompt tokens has 62,500 hash ids of blocks of 16 tokens: 1 MiB.
  static constexpr std::size_t kLineMax = 8u << 20;

  static Result<LineReader> open(const std::string& path);
  LineReader(LineReader&& other) noexcept;
  LineReader& operator=(LineReader&&) = delete;
  ~LineReader();

  /// The next line without its end; nothing behind the last. It is good until the next call.
  Result<std::optional<std::string_view>> next();
  /// Of the last line, from 1.
  std::uint64_t line() const { return line_; }
  /// "trace.jsonl:12", for messages about the last line.
  std::string where() const { return path_ + ":" + std::to_string(line_); }

 private:
  LineReader(std::string path, gzFile_s* file) : path_(std::move(path)), file_(file) {}
  Result<std::optional<std::string_view>> next_as_written();
  /// False: there is no more.
  Result<bool> fill();

  std::string path_;
  gzFile_s* file_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of what was not given out
  std::size_t seen_ = 0;   ///< to here there is no line's end
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

}  // namespace troupe
