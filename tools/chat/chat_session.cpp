#include "tools/chat/chat_session.hpp"

#include <rapidjson/document.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "runtime/http/sse.hpp"
#include "runtime/recipe/json_writer.hpp"

namespace troupe {

namespace {

using Clock = std::chrono::steady_clock;

Duration since(Clock::time_point start) {
  return Duration(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
}

std::string error_in(const rapidjson::Value& document) {
  if (!document.IsObject() || !document.HasMember("error")) return {};
  const auto& error = document["error"];
  if (!error.IsObject() || !error.HasMember("message") || !error["message"].IsString()) return {};
  return error["message"].GetString();
}

}  // namespace

/// What the callbacks of the io thread leave for the waiting thread.
struct ChatSession::Progress {
  std::mutex mutex;
  std::condition_variable changed;
  int status = 0;
  std::string raw;   ///< bytes of a body that is not a stream
  std::string text;  ///< not yet taken
  std::uint64_t tokens = 0;
  std::string failure;
  bool ended = false;
  http::SseParser parser;

  void take_event(const std::string& data) {
    if (data == "[DONE]") return;
    rapidjson::Document document;
    document.Parse(data.c_str());
    if (document.HasParseError()) return;
    if (std::string said = error_in(document); !said.empty()) failure = said;
    if (!document.IsObject()) return;
    if (document.HasMember("usage") && document["usage"].IsObject() &&
        document["usage"].HasMember("completion_tokens")) {
      tokens = document["usage"]["completion_tokens"].GetUint64();
    }
    if (!document.HasMember("choices") || !document["choices"].IsArray()) return;
    for (const auto& choice : document["choices"].GetArray()) {
      const auto delta = choice.FindMember("delta");
      if (delta == choice.MemberEnd() || !delta->value.HasMember("content")) continue;
      const auto& content = delta->value["content"];
      if (content.IsString()) text.append(content.GetString(), content.GetStringLength());
    }
  }

  void on_data(std::string_view bytes) {
    const std::lock_guard lock(mutex);
    if (status != 200) {
      raw.append(bytes);
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
  Progress progress;
  const auto start = Clock::now();
  const http::CallId call = client_.start(
      std::move(request), {.on_headers =
                               [&](int status, const http::Headers&) {
                                 const std::lock_guard lock(progress.mutex);
                                 progress.status = status;
                               },
                           .on_data = [&](std::string_view bytes) { progress.on_data(bytes); },
                           .on_end = [&] { progress.end({}); },
                           .on_error = [&](const Error& error) { progress.end(error.message); }});
  AnswerStats stats;
  std::string answer;
  std::unique_lock lock(progress.mutex);
  for (;;) {
    progress.changed.wait_for(lock, std::chrono::milliseconds(50));
    const bool ended = progress.ended;
    const std::string piece = std::exchange(progress.text, {});
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
  stats.tokens = progress.tokens;
  std::string failure = progress.failure;
  if (progress.ended && progress.status != 200 && failure.empty()) {
    rapidjson::Document document;
    document.Parse(progress.raw.c_str());
    failure =
        document.HasParseError() ? "status " + std::to_string(progress.status) : error_in(document);
  }
  if (stats.interrupted || !failure.empty()) messages_.pop_back();
  if (!stats.interrupted && !failure.empty()) return Error{Code::kUnavailable, failure};
  if (!stats.interrupted) messages_.emplace_back("assistant", std::move(answer));
  return stats;
}

}  // namespace troupe
