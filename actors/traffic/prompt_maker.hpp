// Makes the messages that the traffic core sends: the seam between simulated and real prompts.
#pragma once

#include <span>
#include <string>

#include "actors/gateway/session_messages.hpp"
#include "actors/load/request_source.hpp"

namespace troupe {

/// Pure and thread-safe: the same planned request makes the same bytes.
class PromptMaker {
 public:
  virtual ~PromptMaker() = default;
  /// Fills method, path, headers and body (or the simulated prompt). `answers` are what the server
  /// said in earlier turns; where there is none, words are made up for it.
  virtual void fill(HttpArrived& request, const PlannedRequest& planned,
                    std::span<const std::string> answers) const = 0;
  /// What the request's prompt has, as far as the client knows.
  virtual std::uint64_t tokens(const PlannedRequest& planned) const {
    return tokens_of(planned.prompt);
  }
  /// Whether answers are streams of server-sent events whose tokens must be counted.
  virtual bool answers_are_events() const = 0;
};

/// Chat completions, streamed, with usage at the end. A piece of a prompt becomes its words
/// (prompt_text.hpp), neighbours of one role become one message, images stand before the words of
/// the first message of the user. The last piece gives up the tokens that a template adds.
class ChatPrompts final : public PromptMaker {
 public:
  struct Options {
    std::string model;
    bool ignore_eos = true;
    std::string path = "/v1/chat/completions";
    std::string authorization;  ///< value of that header, or empty
    std::string extra_body;     ///< members of a JSON object, without its braces, or empty
  };
  explicit ChatPrompts(Options options) : options_(std::move(options)) {}

  void fill(HttpArrived& request, const PlannedRequest& planned,
            std::span<const std::string> answers) const override;
  bool answers_are_events() const override { return true; }

 private:
  Options options_;
};

}  // namespace troupe
