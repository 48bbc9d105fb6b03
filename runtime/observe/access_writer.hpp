// The access log's thread: takes records, makes lines, writes them.
//
// Why a thread that asks from time to time instead of one that is told: a request then costs no
// wake-up and no lock that all of them share, and whole batches leave in one write.
//
// Where to: "stdout", "stderr", or a file that is appended to. A pipe that nobody reads makes this
// thread wait, and nobody else: the source drops what it has no room for and says how much.
//
// Invariants: (1) lines are written whole unless the target fails or takes nothing for kStuck; what
// did not get out is counted as lost; (2) the destructor writes what is there and then ends, within
// kStuck for each piece that the target does not take.
// Threads: reopen() from any; the callbacks run on the log's thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/observe/access_record.hpp"

namespace troupe {

class AccessWriter {
 public:
  struct Callbacks {
    /// Appends the records that are there; returns how many were dropped since the last call.
    std::function<std::uint64_t(std::vector<AccessRecord>&)> take;
    std::function<void(std::uint64_t)> lost;
    std::function<void(const std::string&)> complain;  ///< once for each run of failures
  };
  /// How long a line may wait before it is written.
  static constexpr Duration kPeriod = milliseconds(100);
  /// How long a pipe may take nothing.
  static constexpr Duration kStuck = seconds(1);

  /// An error: the file cannot be opened.
  static Result<std::unique_ptr<AccessWriter>> open(const std::string& target, Callbacks callbacks);
  ~AccessWriter();

  /// Opens the file anew before the next line, so that it may have been renamed. A file that cannot
  /// be opened keeps the old one.
  void reopen();

 private:
  AccessWriter(std::string target, int file, Callbacks callbacks);
  bool is_file() const { return target_ != "stdout" && target_ != "stderr"; }
  void work();
  void write_batch();
  bool write_all(std::string_view bytes);
  void open_anew();

  const std::string target_;
  int file_;
  const Callbacks callbacks_;
  std::vector<AccessRecord> batch_;
  std::string text_;
  bool failing_ = false;
  bool torn_ = false;  ///< the last bytes that got out were not the end of a line
  std::mutex mutex_;
  std::condition_variable changed_;
  bool reopen_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace troupe
