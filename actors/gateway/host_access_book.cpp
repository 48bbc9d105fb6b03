#include "actors/gateway/host_access_book.hpp"

#include <chrono>

#include "actors/gateway/answer_id.hpp"
#include "actors/gateway/health.hpp"
#include "actors/gateway/routes.hpp"

namespace troupe {

namespace {

/// Of a kept response's id: its prefix and its number; the digits behind them are a secret.
constexpr std::string_view kResponses = "/v1/responses/";
constexpr std::size_t kResponseIdShown = 21;

std::int64_t unix_ms_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::string shown_path(std::string_view path) {
  if (path.starts_with(kResponses)) path = path.substr(0, kResponses.size() + kResponseIdShown);
  return std::string(path.substr(0, 256));
}

const char* name_of(recipe::Protocol protocol) {
  switch (protocol) {
    case recipe::Protocol::kChat:
      return "chat";
    case recipe::Protocol::kResponses:
      return "responses";
    case recipe::Protocol::kMessages:
      return "messages";
    case recipe::Protocol::kCompletions:
      return "completions";
  }
  return "";
}

const char* name_of(AnswerEnding ending) {
  switch (ending) {
    case AnswerEnding::kNone:
      return "";
    case AnswerEnding::kStop:
      return "stop";
    case AnswerEnding::kLength:
      return "length";
    case AnswerEnding::kToolCalls:
      return "tool_calls";
    case AnswerEnding::kError:
      return "error";
    case AnswerEnding::kCancelled:
      return "cancelled";
  }
  return "";
}

/// Paths that belong to no protocol have none: the models, tokenizing, what is not there.
const char* protocol_name(std::string_view path) {
  const recipe::Protocol protocol = protocol_of(path);
  const bool chat = protocol == recipe::Protocol::kChat;
  return chat && !path.starts_with("/v1/chat/") ? "" : name_of(protocol);
}

void describe(AccessRecord& record, const http::Request& request) {
  record.method = request.method.substr(0, 16);
  record.path = shown_path(request.path);
  record.protocol = protocol_name(request.path);
  record.client_id = http::find_header(request.headers, "x-request-id").substr(0, 128);
  record.peer = request.peer;
}

void apply(AccessRecord& record, const AnswerFacts& facts) {
  if (facts.request.value != 0) {
    record.id = answer_subject(protocol_of(record.path), facts.request);
  }
  record.model = facts.model;
  record.streamed = facts.streamed;
  record.generated = facts.ending != AnswerEnding::kNone && facts.prompt_tokens > 0;
  record.prompt_tokens = facts.prompt_tokens;
  record.cached_tokens = facts.cached_tokens;
  record.output_tokens = facts.output_tokens;
  record.reasoning_tokens = facts.reasoning_tokens;
  record.queued = facts.queued;
  record.first_token = facts.first_token;
  record.decoded = facts.decoded;
  record.finish = name_of(facts.ending);
  record.error = facts.code;
}

/// nginx's status for a client that closed before its answer was out.
constexpr int kClientClosed = 499;

void apply(AccessRecord& record, const http::Ended& ended) {
  record.status = ended.status;
  record.body_bytes = ended.body_bytes;
  if (ended.how != http::Ended::How::kGone) return;
  record.status = kClientClosed;
  record.finish = name_of(AnswerEnding::kCancelled);
}

}  // namespace

bool AccessBook::is_told(std::string_view path) const {
  return options_.health || (path != "/metrics" && !health_answer(path, ServingState::kServing));
}

void AccessBook::open(http::SessionId session, const http::Request& request,
                      const std::string& tenant, Time now) {
  if (!is_told(request.path)) return;
  Open open;
  open.arrived = now;
  open.record.unix_ms = unix_ms_now();
  open.record.trace = request.trace;
  open.record.tenant = tenant;
  describe(open.record, request);
  if (options_.text_bytes > 0) {
    open.record.with_text = true;
    open.record.request_text = request.body.substr(0, options_.text_bytes);
  }
  Stripe& stripe = stripe_of(session.value);
  const std::lock_guard lock(stripe.mutex);
  stripe.open.emplace(session.value, std::move(open));
}

void AccessBook::note(std::uint64_t exchange, const AnswerFacts& facts) {
  Stripe& stripe = stripe_of(exchange);
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.open.find(exchange);
  if (at == stripe.open.end() || at->second.noted) return;
  Open& open = at->second;
  open.noted = true;
  const char* finish = open.record.finish;
  apply(open.record, facts);
  if (!open.over) return;
  open.record.finish = finish;
  finish_open(stripe, at);
}

void AccessBook::answer_text(std::uint64_t exchange, std::string_view bytes) {
  if (options_.text_bytes == 0) return;
  Stripe& stripe = stripe_of(exchange);
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.open.find(exchange);
  if (at == stripe.open.end()) return;
  std::string& text = at->second.record.answer_text;
  text.append(bytes.substr(0, options_.text_bytes - text.size()));
}

void AccessBook::ended(const http::Ended& ended, const std::string& tenant, Time now) {
  Stripe& stripe = stripe_of(ended.session.value);
  if (ended.session.value == 0) {
    if (ended.head != nullptr && !is_told(ended.head->path)) return;
    AccessRecord record;
    record.unix_ms = unix_ms_now();
    record.trace = ended.trace;
    record.tenant = tenant;
    record.error = ended.code;
    record.total = now - ended.began;
    if (ended.head != nullptr) describe(record, *ended.head);
    apply(record, ended);
    const std::lock_guard lock(stripe.mutex);
    return finish(stripe, std::move(record));
  }
  const std::lock_guard lock(stripe.mutex);
  const auto at = stripe.open.find(ended.session.value);
  if (at == stripe.open.end()) return;
  Open& open = at->second;
  open.record.total = now - open.arrived;
  apply(open.record, ended);
  const bool waits = ended.how == http::Ended::How::kGone && !open.noted;
  if (!waits || stripe.over.size() >= options_.waiting_max) return finish_open(stripe, at);
  open.over = true;
  stripe.over.emplace_back(now + kFactsWait, ended.session.value);
}

void AccessBook::finish_open(Stripe& stripe, OpenMap::iterator at) {
  AccessRecord record = std::move(at->second.record);
  stripe.open.erase(at);
  finish(stripe, std::move(record));
}

void AccessBook::finish(Stripe& stripe, AccessRecord record) {
  if (stripe.done.size() < options_.waiting_max) {
    stripe.done.push_back(std::move(record));
  } else {
    ++stripe.dropped;
  }
}

std::uint64_t AccessBook::take(std::vector<AccessRecord>& out, Time now) {
  std::uint64_t dropped = 0;
  std::vector<AccessRecord> done;
  for (Stripe& stripe : stripes_) {
    done.clear();
    {
      const std::lock_guard lock(stripe.mutex);
      give_up(stripe, now);
      std::swap(done, stripe.done);
      dropped += std::exchange(stripe.dropped, 0);
    }
    for (AccessRecord& record : done) out.push_back(std::move(record));
  }
  return dropped;
}

void AccessBook::give_up(Stripe& stripe, Time now) {
  std::size_t due = 0;
  while (due < stripe.over.size() && (closed_ || stripe.over[due].first <= now)) {
    const auto at = stripe.open.find(stripe.over[due++].second);
    if (at != stripe.open.end()) finish_open(stripe, at);
  }
  stripe.over.erase(stripe.over.begin(), stripe.over.begin() + static_cast<std::ptrdiff_t>(due));
}

}  // namespace troupe
