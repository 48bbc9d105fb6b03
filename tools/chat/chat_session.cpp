#include "tools/chat/chat_session.hpp"

#include <rapidjson/document.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "runtime/http/sse.hpp"
#include "runtime/recipe/text/json_writer.hpp"

namespace troupe {

namespace {

using Clock = std::chrono::steady_clock;

Duration since(Clock::time_point start) {
  return Duration(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

/// What a server may send instead of an answer's events is shown, so it is kept, but not all of it.
constexpr std::size_t kRawMax = 64u << 10;

/// The member, or null: a server may send anything, and rapidjson asserts on a wrong type.
const rapidjson::Value* member(const rapidjson::Value* object, const char* name) {
  if (object == nullptr || !object->IsObject()) return nullptr;
  const auto at = object->FindMember(name);
  return at == object->MemberEnd() ? nullptr : &at->value;
}

std::string text_in(const rapidjson::Value* value) {
  if (value == nullptr || !value->IsString()) return {};
  return {value->GetString(), value->GetStringLength()};
}

std::string error_in(const rapidjson::Value& document) {
  return text_in(member(member(&document, "error"), "message"));
}

/// Why there is no answer, from a body that is not a stream.
std::string refusal_in(const std::string& raw, int status) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(raw.c_str());
  std::string said = document.HasParseError() ? std::string() : error_in(document);
  return said.empty() ? "status " + std::to_string(status) : said;
}

}  // namespace

/// What the callbacks of the io thread leave for the waiting thread. Shared with them: an
/// interrupted ask() returns while one may still be under way.
struct ChatSession::Progress {
  std::mutex mutex;
  std::condition_variable changed;
  int status = 0;
  std::string raw;   ///< bytes of a body that is not a stream
  std::string text;  ///< not yet taken
  std::uint64_t tokens = 0;
  std::string failure;
  bool finished = false;  ///< an event said why the answer ended
  bool ended = false;
  http::SseParser parser;

  void take_event(const std::string& data) {
    if (data == "[DONE]") return;
    rapidjson::Document document;
    document.Parse<rapidjson::kParseIterativeFlag>(data.c_str());
    if (document.HasParseError()) {
      failure = "the server sent an event that is not JSON";
      return;
    }
    if (std::string said = error_in(document); !said.empty()) failure = said;
    const auto* used = member(member(&document, "usage"), "completion_tokens");
    if (used != nullptr && used->IsUint64()) tokens = used->GetUint64();
    const auto* choices = member(&document, "choices");
    if (choices == nullptr || !choices->IsArray()) return;
    for (const auto& choice : choices->GetArray()) {
      text += text_in(member(member(&choice, "delta"), "content"));
      finished = finished || !text_in(member(&choice, "finish_reason")).empty();
    }
  }

  void on_data(std::string_view bytes) {
    const std::lock_guard lock(mutex);
    if (status != 200) {
      raw.append(bytes.substr(0, kRawMax - raw.size()));
    } else if (auto events = parser.feed(bytes); events.ok()) {
      for (const auto& event : *events) take_event(event.data);
    } else {
      failure = events.error().message;
    }
    changed.notify_one();
  }

  void end(std::string problem) {
    const std::lock_guard lock(mutex);
    if (failure.empty()) failure = std::move(problem);
    ended = true;
    changed.notify_one();
  }
};

ChatSession::ChatSession(http::Url url, ChatSettings settings)
    : url_(std::move(url)), settings_(std::move(settings)) {}

std::string ChatSession::body() const {
  JsonWriter json;
  json.open_object();
  if (!settings_.model.empty()) json.key("model").text(settings_.model);
  json.key("stream").boolean(true);
  json.key("stream_options").open_object().key("include_usage").boolean(true).close_object();
  json.key("temperature").real(settings_.temperature);
  if (settings_.max_tokens > 0) {
    json.key("max_tokens").number(std::int64_t{settings_.max_tokens});
  }
  json.key("messages").open_array();
  auto message = [&](std::string_view role, std::string_view text) {
    json.open_object().key("role").text(role).key("content").text(text).close_object();
  };
  if (!settings_.system.empty()) message("system", settings_.system);
  for (const auto& [role, text] : messages_) message(role, text);
  json.close_array().close_object();
  return json.take();
}

Result<AnswerStats> ChatSession::ask(std::string text,
                                     const std::function<void(std::string_view)>& on_text) {
  interrupted_ = false;
  messages_.emplace_back("user", std::move(text));
  http::ClientRequest request;
  request.host = url_.host;
  request.port = url_.port;
  request.method = "POST";
  request.path = "/v1/chat/completions";
  request.headers.emplace_back("content-type", "application/json");
  request.body = body();
  request.total_timeout = Duration(static_cast<std::int64_t>(settings_.timeout * 1e9));
  const auto progress = std::make_shared<Progress>();
  const auto start = Clock::now();
  const http::CallId call = client_.start(
      std::move(request), {.on_headers =
                               [progress](int status, const http::Headers&) {
                                 const std::lock_guard lock(progress->mutex);
                                 progress->status = status;
                               },
                           .on_data = [progress](auto bytes) { progress->on_data(bytes); },
                           .on_end = [progress] { progress->end({}); },
                           .on_error = [progress](auto& error) { progress->end(error.message); }});
  AnswerStats stats;
  std::string answer;
  std::unique_lock lock(progress->mutex);
  for (;;) {
    progress->changed.wait_for(lock, std::chrono::milliseconds(50));
    const bool ended = progress->ended;
    const std::string piece = std::exchange(progress->text, {});
    lock.unlock();
    if (!piece.empty() && answer.empty()) stats.first_token = since(start);
    answer += piece;
    if (!piece.empty()) on_text(piece);
    stats.interrupted = interrupted_;
    if (stats.interrupted && !ended) client_.cancel(call);
    lock.lock();
    if (ended || stats.interrupted) break;
  }
  stats.total = since(start);
  stats.tokens = progress->tokens;
  std::string failure = progress->failure;
  if (progress->ended && progress->status != 200 && failure.empty()) {
    failure = refusal_in(progress->raw, progress->status);
  } else if (progress->ended && failure.empty() && !progress->finished) {
    failure = "the server's answer has no end (no finish_reason): it broke off, or is no chat";
  }
  if (stats.interrupted || !failure.empty()) messages_.pop_back();
  if (!stats.interrupted && !failure.empty()) return Error{Code::kUnavailable, failure};
  if (!stats.interrupted) messages_.emplace_back("assistant", std::move(answer));
  return stats;
}

}  // namespace troupe
