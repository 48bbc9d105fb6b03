// The response store's file: a RecordLog whose records are "keep this" and "drop that".
//
// Opening replays them onto a shelf of the same limits, so that what comes back is what was there.
// It may be opened again: the first log is closed before.
//
// Blocking: everything here runs in jobs, never in an actor, and one at a time. The store core sees
// to that, but a job that was given up as late may still run: until it ends, all others get
// kUnavailable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/responses/response_shelf.hpp"
#include "runtime/base/one_at_a_time.hpp"
#include "runtime/store/record_log.hpp"

namespace troupe {

/// The records of a change.
std::string keep_record(const StoredResponse& response);
std::string drop_record(const std::string& id);

class ResponseFile {
 public:
  explicit ResponseFile(std::string path) : path_(std::move(path)) {}

  Result<LogOpened> open(const ShelfLimits& limits);
  Result<LogWritten> append(const std::vector<std::string>& records);
  /// Leaves out what no longer counts.
  Result<LogWritten> rewrite(const std::vector<SharedResponse>& responses);

 private:
  Error busy() const;

  std::string path_;
  OneAtATime jobs_;
  std::optional<RecordLog> log_;
};

}  // namespace troupe
