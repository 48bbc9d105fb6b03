// A file of records that is only appended to, and now and then written anew with what still counts.
//
// Format: 8 bytes "TRPLOG1\n", then records: length (u32, little-endian), CRC-32 of the length's
// bytes and the payload (u32), payload.
//
// Invariants
// 1. Opening never fails because of what a record holds: a record that does not match its checksum
//    is skipped if its length is plausible, else the rest of the file is moved to PATH.damaged.
//    Both are counted. A disk that cannot be read is an error, not an end.
// 2. A file that does not begin like a log, or that another process has open as one, is refused and
//    left as it is.
// 3. A rewrite is all or nothing: a new file, synced, takes the place of the old one.
// 4. What append() or rewrite() returned ok for is on the disk.
//
// Threads: one owner at a time. Units: bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

/// What opening found.
struct LogDamage {
  std::uint64_t records = 0;    ///< intact ones
  std::uint64_t skipped = 0;    ///< with a wrong checksum
  std::uint64_t cut_bytes = 0;  ///< behind the last record that could be found
};

class RecordLog {
 public:
  /// Opens or creates the file and shows every intact record, oldest first. Records above
  /// `record_max` bytes count as damage. Errors: kCorrupt (no log), kUnavailable (in use), kIo.
  static Result<RecordLog> open(const std::string& path, std::uint32_t record_max,
                                const std::function<void(std::string_view)>& record);
  RecordLog(RecordLog&& other) noexcept;
  RecordLog& operator=(RecordLog&& other) noexcept;
  ~RecordLog();

  /// All of them or none; synced to the disk. Requires: none is above record_max.
  Status append(std::span<const std::string> records);
  /// Replaces the content.
  Status rewrite(std::span<const std::string> records);

  std::uint64_t bytes() const { return bytes_; }
  const LogDamage& damage() const { return damage_; }

 private:
  RecordLog(std::string path, std::uint32_t record_max, int file);
  Status read_all(const std::function<void(std::string_view)>& record);
  Status cut_off_tail();

  std::string path_;
  std::uint32_t record_max_ = 0;
  int file_ = -1;
  std::uint64_t bytes_ = 0;  ///< of intact content: where the next record goes
  LogDamage damage_;
};

}  // namespace troupe
