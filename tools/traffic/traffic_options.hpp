// The flags of `troupe traffic`, as a plan, a server and an output.
#pragma once

#include <string>

#include "actors/traffic/prompt_maker.hpp"
#include "runtime/http/url.hpp"
#include "tools/cli/command.hpp"
#include "tools/traffic/load_options.hpp"

namespace troupe {

class TrafficOptions {
 public:
  explicit TrafficOptions(cli::Command& command);
  TrafficOptions(const TrafficOptions&) = delete;
  TrafficOptions& operator=(const TrafficOptions&) = delete;

  Result<TrafficPlan> plan() const { return load_.plan(); }
  Result<http::Url> server() const;
  /// For a server at this URL: its path may be empty, end in /v1 or name the endpoint itself.
  /// Errors: an --extra-body that is no JSON object.
  Result<ChatPrompts::Options> prompts(const http::Url& server) const;

  std::string format = "vllm";
  bool json = false;
  double max_error_share = 0;

 private:
  std::string url_ = "http://127.0.0.1:8000";
  std::string model_;
  std::string key_;
  std::string extra_body_;
  bool stop_at_eos_ = false;
  bool ignore_eos_ = false;
  LoadOptions load_;
};

}  // namespace troupe
