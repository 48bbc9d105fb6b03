// Response store: keeps answers of /v1/responses for GET, DELETE and previous_response_id.
//
// Memory is what counts (response_shelf.hpp); a file, if there is one, lets it survive a restart.
// Changes are in memory at once and reach the file a moment later, many in one write: a crash of
// the machine loses the last of them, an ordered stop none.
//
// Protocol: response_messages.hpp.
//
// Invariants
// 1. At most one job works on the file at a time: changes keep their order.
// 2. What waits to be written is bounded: above `backlog_max` bytes changes stay in memory only,
//    and are counted, until the file is written anew.
// 3. A file that cannot be opened or written stops nothing: the store goes on in memory, says so in
//    the log, and tries again after 1 s, 2 s and so on up to a minute; what was missed is made up
//    for by writing the file anew. A file that is none of ours is left alone for good.
// 4. Until the file is read, questions get kUnavailable; what is to be kept is kept.
// 5. A drain ends when nothing waits to be written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "actors/responses/response_file.hpp"
#include "runtime/actor/actor.hpp"

namespace troupe {

class ResponseStoreCore {
 public:
  using Accepts = ResponseStoreProtocol;
  struct Args {
    ShelfLimits limits;
    std::string path;  ///< empty: memory only
    std::uint64_t backlog_max = std::uint64_t{64} << 20;
  };
  static constexpr const char* kKind = "responses";

  explicit ResponseStoreCore(const Args& args) : args_(args), shelf_(args.limits) {}

  void on(const Started&, Context& context, Effects& out);
  void on(const KeepResponse& keep, Context& context, Effects& out);
  void on(const FetchConversation& fetch, Context& context, Effects& out);
  void on(const AskResponse& ask, Context& context, Effects& out);
  void on(const Done<LogOpened>& opened, Context& context, Effects& out);
  void on(const Done<LogWritten>& written, Context& context, Effects& out);
  void on(const TimerFired&, Context& context, Effects& out);
  void on(const Down&, Context&, Effects&) {}
  void on(const Undeliverable&, Context&, Effects&) {}  // a request that has ended
  void on(const Drain&, Context& context, Effects& out);

  const char* phase() const;
  std::string describe() const;
  const ResponseShelf& shelf() const { return shelf_; }

 private:
  enum class File : std::uint8_t { kNone, kOpening, kIdle, kWriting, kFailed };

  void change(std::string record, Context& context, Effects& out);
  void write(Context& context, Effects& out);
  void open(Context& context, Effects& out);
  void file_failed(const Error& error, Context& context, Effects& out);
  bool outgrown() const;
  void report(Effects& out) const;

  Args args_;
  ResponseShelf shelf_;
  std::shared_ptr<ResponseFile> file_;
  File state_ = File::kNone;
  bool opened_ = false;  ///< the file's content is on the shelf
  Duration retry_;       ///< after the next failure
  std::vector<std::string> backlog_;
  std::uint64_t backlog_bytes_ = 0;
  std::uint64_t log_bytes_ = 0;
  bool rewrite_due_ = false;  ///< changes are missing in the file
  bool draining_ = false;
};

}  // namespace troupe
