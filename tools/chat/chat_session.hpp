// One conversation with a server: keeps the messages, streams each answer.
//
// Threads: ask() waits in the caller's thread; interrupt() may come from a signal handler's thread.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/http/client.hpp"
#include "runtime/http/url.hpp"

namespace troupe {

struct ChatSettings {
  std::string model;   ///< empty: the server's default
  std::string system;  ///< empty: the model's own
  double temperature = 0.7;
  std::uint32_t max_tokens = 0;  ///< 0: up to the context's end
  double timeout = 600;          ///< seconds, for a whole answer
};

struct AnswerStats {
  std::uint64_t tokens = 0;
  Duration first_token;  ///< from asking
  Duration total;
  bool interrupted = false;
};

class ChatSession {
 public:
  ChatSession(http::Url url, ChatSettings settings);

  /// Sends `text` and calls `on_text` with each piece of the answer. A failed or interrupted answer
  /// leaves the conversation as it was before.
  Result<AnswerStats> ask(std::string text, const std::function<void(std::string_view)>& on_text);
  /// Ends the answer that is under way, if one is.
  void interrupt() { interrupted_ = true; }
  void reset() { messages_.clear(); }

 private:
  struct Progress;
  std::string body() const;

  http::Url url_;
  ChatSettings settings_;
  http::Client client_;
  std::vector<std::pair<std::string, std::string>> messages_;  ///< role, text
  std::atomic<bool> interrupted_{false};
};

}  // namespace troupe
