#include "actors/responses/response_store_core.hpp"

#include <algorithm>

#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

constexpr OpId kFileOp{1};
constexpr TimerTag kRetryTimer{1, 0};
constexpr Duration kRetryFirst = seconds(1);
constexpr Duration kRetryMost = seconds(60);
/// A disk that takes longer for one write is as good as gone.
constexpr Duration kFileDeadline = seconds(60);
/// A file of this size more than twice of what counts is written anew.
constexpr std::uint64_t kSlackBytes = std::uint64_t{1} << 20;

std::string deleted_body(const std::string& id) {
  JsonWriter json;
  json.open_object().key("id").text(id).key("object").text("response");
  json.key("deleted").boolean(true).close_object();
  return json.take();
}

Error no_such_response(const std::string& id) {
  return {Code::kNotFound, "Response with id '" + id.substr(0, 100) + "' not found."};
}

}  // namespace

void ResponseStoreCore::on(const Started&, Context& context, Effects& out) {
  retry_ = kRetryFirst;
  if (args_.path.empty()) return;
  file_ = std::make_shared<ResponseFile>(args_.path);
  open(context, out);
}

void ResponseStoreCore::open(Context& context, Effects& out) {
  state_ = File::kOpening;
  auto open = [file = file_, limits = args_.limits] { return file->open(limits); };
  out.compute(kFileOp, make_job<LogOpened>(std::move(open), Duration(), JobLength::kBlocks),
              context.now + kFileDeadline);
}

void ResponseStoreCore::on(const Done<LogOpened>& opened, Context& context, Effects& out) {
  if (opened.failed) return file_failed(opened.error, context, out);
  opened_ = true;
  retry_ = kRetryFirst;
  if (!opened.output.problem.empty()) out.warn("responses_damaged", opened.output.problem);
  log_bytes_ = opened.output.log_bytes;
  // What was kept while the file was read is newer than what the file holds.
  const auto fresh = shelf_.all();
  if (opened.output.kept) shelf_ = std::move(*opened.output.kept);
  for (const auto& response : fresh) shelf_.put(response, response->created);
  out.info("responses_opened", args_.path + ": " + std::to_string(shelf_.size()) + " responses");
  state_ = File::kIdle;
  write(context, out);
  report(out);
}

void ResponseStoreCore::on(const KeepResponse& keep, Context& context, Effects& out) {
  for (const auto& response : keep.one.responses) {
    shelf_.expire(response->created);
    if (!shelf_.put(response, response->created)) {
      out.count("troupe_responses_not_kept_total");
      continue;
    }
    change(keep_record(*response), context, out);
  }
  report(out);
}

void ResponseStoreCore::on(const FetchConversation& fetch, Context& context, Effects& out) {
  ConversationFetched answer;
  shelf_.expire(fetch.unix_seconds);
  auto chain = shelf_.conversation(fetch.id, fetch.owner, fetch.unix_seconds);
  answer.found = chain.ok();
  if (chain.ok()) {
    answer.chain.responses = std::move(chain).value();
  } else if (state_ == File::kOpening) {
    answer.code = Code::kUnavailable;
    answer.message = "the stored responses are being read; try again";
  } else {
    answer.code = chain.error().code;
    answer.message = chain.error().message;
  }
  out.send(context.from, make_message<ConversationFetched>(std::move(answer)));
}

void ResponseStoreCore::on(const AskResponse& ask, Context& context, Effects& out) {
  ResponseAnswered answer;
  shelf_.expire(ask.unix_seconds);
  const SharedResponse response = shelf_.find(ask.id, ask.owner);
  answer.found = response != nullptr;
  if (state_ == File::kOpening) {
    answer.found = false;
    answer.code = Code::kUnavailable;
    answer.message = "the stored responses are being read; try again";
  } else if (!response) {
    answer.message = no_such_response(ask.id).message;
  } else if (ask.drop) {
    answer.body = deleted_body(ask.id);
    shelf_.drop(ask.id);
    change(drop_record(ask.id), context, out);
    report(out);
  } else {
    answer.body = response->body;
    answer.one.responses = {response};
  }
  out.send(context.from, make_message<ResponseAnswered>(std::move(answer)));
}

void ResponseStoreCore::change(std::string record, Context& context, Effects& out) {
  if (!file_) return;
  if (rewrite_due_) {
    // It will be among all that is written.
  } else if (backlog_bytes_ + record.size() > args_.backlog_max) {
    out.count("troupe_responses_unwritten_total");
    rewrite_due_ = true;
  } else {
    backlog_bytes_ += record.size();
    backlog_.push_back(std::move(record));
  }
  write(context, out);
}

bool ResponseStoreCore::outgrown() const {
  return log_bytes_ > 2 * shelf_.bytes() + kSlackBytes;
}

void ResponseStoreCore::write(Context& context, Effects& out) {
  if (state_ != File::kIdle) return;
  std::shared_ptr<const ComputeJob> job;
  if (rewrite_due_ || outgrown()) {
    auto rewrite = [file = file_, all = shelf_.all()] { return file->rewrite(all); };
    job = make_job<LogWritten>(std::move(rewrite), Duration(), JobLength::kBlocks);
  } else if (!backlog_.empty()) {
    auto append = [file = file_, records = std::move(backlog_)] { return file->append(records); };
    job = make_job<LogWritten>(std::move(append), Duration(), JobLength::kBlocks);
  } else {
    if (draining_) out.stop("drained");
    return;
  }
  // A rewrite has the backlog's changes in it.
  backlog_.clear();
  backlog_bytes_ = 0;
  rewrite_due_ = false;
  state_ = File::kWriting;
  out.compute(kFileOp, std::move(job), context.now + kFileDeadline);
}

void ResponseStoreCore::on(const Done<LogWritten>& written, Context& context, Effects& out) {
  if (written.failed) return file_failed(written.error, context, out);
  retry_ = kRetryFirst;
  log_bytes_ = written.output.log_bytes;
  state_ = File::kIdle;
  write(context, out);
}

void ResponseStoreCore::file_failed(const Error& error, Context& context, Effects& out) {
  const bool for_good = error.code == Code::kCorrupt;
  out.warn("responses_file", to_string(error) + "; responses are kept in memory only" +
                                 (for_good ? "" : " until it can be written again"));
  // What may be written or not: writing it anew makes up for it.
  backlog_.clear();
  backlog_bytes_ = 0;
  rewrite_due_ = true;
  state_ = for_good ? File::kNone : File::kFailed;
  if (for_good) file_.reset();
  if (draining_) return out.stop("drained");
  if (for_good) return;
  out.timer(kRetryTimer, context.now + retry_);
  retry_ = std::min(retry_ * 2, kRetryMost);
}

void ResponseStoreCore::on(const TimerFired&, Context& context, Effects& out) {
  if (state_ != File::kFailed) return;
  if (!opened_) return open(context, out);
  state_ = File::kIdle;
  write(context, out);
}

void ResponseStoreCore::on(const Drain&, Context& context, Effects& out) {
  draining_ = true;
  if (!file_) return out.stop("drained");
  if (state_ == File::kFailed && !opened_) return out.stop("drained, without its file");
  if (state_ == File::kFailed) state_ = File::kIdle;  // once more, now
  write(context, out);
}

void ResponseStoreCore::report(Effects& out) const {
  out.gauge("troupe_responses_stored", static_cast<double>(shelf_.size()));
  out.gauge("troupe_responses_stored_bytes", static_cast<double>(shelf_.bytes()));
}

const char* ResponseStoreCore::phase() const {
  switch (state_) {
    case File::kNone:
      return "memory";
    case File::kOpening:
      return "reading";
    case File::kIdle:
      return "idle";
    case File::kWriting:
      return "writing";
    case File::kFailed:
      return "without its file";
  }
  return "unknown";
}

std::string ResponseStoreCore::describe() const {
  return "responses=" + std::to_string(shelf_.size()) + " bytes=" + std::to_string(shelf_.bytes()) +
         " log_bytes=" + std::to_string(log_bytes_) + " backlog=" + std::to_string(backlog_.size());
}

}  // namespace troupe
