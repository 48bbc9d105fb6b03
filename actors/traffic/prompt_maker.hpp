// Makes the requests that the traffic core sends: the seam between simulated and real prompts.
#pragma once

#include <string>

#include "actors/gateway/session_messages.hpp"
#include "actors/traffic/arrivals.hpp"

namespace troupe {

/// Pure and thread-safe: all randomness comes from `rng`.
class PromptMaker {
 public:
  virtual ~PromptMaker() = default;
  /// Fills method, path, headers and body (or the simulated prompt).
  virtual void fill(HttpArrived& request, const Draw& draw, Rng& rng) const = 0;
  /// Whether answers are streams of server-sent events whose tokens must be counted.
  virtual bool answers_are_events() const = 0;
};

/// Prompts that are lengths. How long the answers are is the simulated device's secret.
class SimulatedPrompts final : public PromptMaker {
 public:
  void fill(HttpArrived& request, const Draw& draw, Rng& rng) const override;
  bool answers_are_events() const override { return false; }
};

/// Chat completions: about the wanted number of tokens of plain English words (a common short word
/// with its space is one token of every usual vocabulary), streamed, with usage at the end.
class ChatPrompts final : public PromptMaker {
 public:
  struct Options {
    std::string model;
    bool ignore_eos = true;
    std::string path = "/v1/chat/completions";
    std::string authorization;  ///< value of that header, or empty
  };
  explicit ChatPrompts(Options options) : options_(std::move(options)) {}

  void fill(HttpArrived& request, const Draw& draw, Rng& rng) const override;
  bool answers_are_events() const override { return true; }

 private:
  Options options_;
};

}  // namespace troupe
