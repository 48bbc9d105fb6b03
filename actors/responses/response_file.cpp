#include "actors/responses/response_file.hpp"

#include <algorithm>
#include <limits>

#include "runtime/base/fields.hpp"

namespace troupe {

namespace {

/// kKeep has no owner; files from before keys had responses of their own hold it.
enum class Change : std::uint8_t { kKeep = 1, kDrop = 2, kKeepOwned = 3 };

bool is_over(const Decoder& decoder) {
  return decoder.ok() && decoder.rest().empty();
}

/// False: the record says nothing that can be understood.
bool replay(std::string_view record, ResponseShelf& shelf) {
  Decoder decoder(record);
  auto change = Change::kKeep;
  decoder.get(change);
  if (change == Change::kDrop) {
    std::string id;
    decoder.get(id);
    if (!is_over(decoder)) return false;
    shelf.drop(id);
    return true;
  }
  StoredResponse response;
  if (change == Change::kKeepOwned) decoder.get(response.owner);
  decoder.get(response);
  if ((change != Change::kKeep && change != Change::kKeepOwned) || !is_over(decoder) ||
      response.id.empty())
    return false;
  const std::int64_t created = response.created;
  shelf.put(std::make_shared<const StoredResponse>(std::move(response)), created);
  return true;
}

}  // namespace

std::string keep_record(const StoredResponse& response) {
  std::string record;
  Encoder encoder(record);
  encoder.put(Change::kKeepOwned);
  encoder.put(response.owner);
  encoder.put(response);
  return record;
}

std::string drop_record(const std::string& id) {
  std::string record;
  Encoder encoder(record);
  encoder.put(Change::kDrop);
  encoder.put(id);
  return record;
}

Result<LogOpened> ResponseFile::open(const ShelfLimits& limits) {
  // Lengths and the tag come on top of the texts that the limit counts.
  constexpr std::uint64_t kAround = 64;
  const std::uint64_t record_max =
      std::min<std::uint64_t>(limits.bytes_max + kAround, std::numeric_limits<std::int32_t>::max());
  const OneAtATime::Turn turn(jobs_);
  if (!turn) return busy();
  log_.reset();
  auto shelf = std::make_shared<ResponseShelf>(limits);
  std::uint64_t unknown = 0;
  auto log =
      RecordLog::open(path_, static_cast<std::uint32_t>(record_max),
                      [&](std::string_view record) { unknown += replay(record, *shelf) ? 0 : 1; });
  if (!log.ok()) return log.error();
  log_.emplace(std::move(log).value());
  LogOpened opened;
  opened.kept = std::move(shelf);
  opened.log_bytes = log_->bytes();
  const LogDamage& damage = log_->damage();
  if (damage.skipped + damage.cut_bytes + unknown > 0) {
    opened.problem = path_ + ": " + std::to_string(damage.skipped + unknown) +
                     " damaged records left out, " + std::to_string(damage.cut_bytes) +
                     " bytes cut off at the end";
  }
  return opened;
}

Error ResponseFile::busy() const {
  return {Code::kUnavailable, path_ + ": an earlier write has not ended"};
}

Result<LogWritten> ResponseFile::append(const std::vector<std::string>& records) {
  const OneAtATime::Turn turn(jobs_);
  if (!turn) return busy();
  if (!log_) return Error{Code::kIo, path_ + " is not open"};
  TROUPE_TRY(log_->append(records));
  return LogWritten{log_->bytes()};
}

Result<LogWritten> ResponseFile::rewrite(const std::vector<SharedResponse>& responses) {
  const OneAtATime::Turn turn(jobs_);
  if (!turn) return busy();
  if (!log_) return Error{Code::kIo, path_ + " is not open"};
  std::vector<std::string> records;
  records.reserve(responses.size());
  for (const auto& response : responses) records.push_back(keep_record(*response));
  TROUPE_TRY(log_->rewrite(records));
  return LogWritten{log_->bytes()};
}

}  // namespace troupe
