// The flags of `troupe traffic`, as a plan, a server and an output.
#pragma once

#include <string>

#include "actors/traffic/prompt_maker.hpp"
#include "runtime/http/url.hpp"
#include "tools/cli/command.hpp"

namespace troupe {

class TrafficOptions {
 public:
  explicit TrafficOptions(cli::Command& command);
  TrafficOptions(const TrafficOptions&) = delete;
  TrafficOptions& operator=(const TrafficOptions&) = delete;

  Result<TrafficPlan> plan() const;
  Result<http::Url> server() const;
  /// For a server at this URL: its path may be empty, end in /v1 or name the endpoint itself.
  ChatPrompts::Options prompts(const http::Url& server) const;

  std::string format = "vllm";
  bool json = false;
  double max_error_share = 0;

 private:
  void add_load(cli::Command& command);

  std::string url_ = "http://127.0.0.1:8000";
  std::string model_;
  std::string key_;
  std::string goodput_;
  TrafficPlan plan_;
  double duration_s_ = 0;
  double cancel_delay_s_ = 0;
  double timeout_s_ = 0;
  bool stop_at_eos_ = false;
};

}  // namespace troupe
