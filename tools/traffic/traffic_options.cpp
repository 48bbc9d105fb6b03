#include "tools/traffic/traffic_options.hpp"

namespace troupe {

namespace {
constexpr const char* kEndpoint = "/v1/chat/completions";
}

TrafficOptions::TrafficOptions(cli::Command& command) {
  command.option("--url", url_, "the server").show_default();
  command.option("--model", model_,
                 "the model's name (GET /v1/models lists them); default: the server's own");
  command.option("--api-key", key_, "sent as a bearer token").variable("TROUPE_API_KEY");
  command.option("--goodput", goodput_, "objectives, e.g. \"ttft:500 tpot:50\", ms");
  command.option("--format", format, "table to print").one_of({"vllm", "aiperf"}).show_default();
  command.flag("--json", json, "print one JSON object instead of a table");
  command.option("--max-error-share", max_error_share, "more failures: exit code 1")
      .between(0, 1)
      .show_default();
  command.flag("--stop-at-eos", stop_at_eos_, "let the model end its answers itself");
  add_load(command);
}

void TrafficOptions::add_load(cli::Command& command) {
  auto add = [&command](const char* name, auto& value, const char* text) {
    command.option(name, value, text).show_default();
  };
  add("--concurrency", plan_.concurrency, "closed loop: requests under way; 1 if no rate is given");
  add("--request-rate", plan_.request_rate, "open loop: requests a second");
  add("--burstiness", plan_.burstiness, "gamma shape of the gaps; 1: Poisson");
  add("--num-requests", plan_.num_requests, "measured requests; 0: until --duration, or 100");
  add("--duration", duration_s_, "start none later, seconds; 0: no bound");
  add("--warmup", plan_.warmup, "requests before the measured ones");
  add("--isl", plan_.isl, "prompt tokens, about");
  add("--isl-stddev", plan_.isl_stddev, "their deviation");
  add("--osl", plan_.osl, "answer tokens");
  add("--osl-stddev", plan_.osl_stddev, "their deviation, normally distributed");
  add("--osl-spread", plan_.osl_spread, "instead: uniform within OSL +- this");
  add("--cancel-rate", plan_.cancel_rate, "share of requests that the client leaves");
  add("--cancel-delay", cancel_delay_s_, "after so many seconds");
  add("--timeout", timeout_s_, "a client's patience, seconds; 0: endless");
  add("--seed", plan_.seed, "decides arrivals, lengths and prompts");
}

Result<TrafficPlan> TrafficOptions::plan() const {
  TrafficPlan plan = plan_;
  for (const double span : {duration_s_, cancel_delay_s_, timeout_s_}) {
    if (!(span >= 0 && span < 1e8)) return Error{Code::kInvalid, "times are from 0 to 1e8 seconds"};
  }
  plan.duration = from_seconds(duration_s_);
  plan.cancel_delay = from_seconds(cancel_delay_s_);
  plan.timeout = from_seconds(timeout_s_);
  if (plan.num_requests == 0 && duration_s_ == 0) plan.num_requests = 100;
  if (plan.concurrency == 0 && plan.request_rate == 0) plan.concurrency = 1;
  TROUPE_TRY_ASSIGN(plan.slo, parse_slo(goodput_));
  TROUPE_TRY(check_plan(plan));
  return plan;
}

Result<http::Url> TrafficOptions::server() const {
  return http::parse_url(url_);
}

ChatPrompts::Options TrafficOptions::prompts(const http::Url& server) const {
  ChatPrompts::Options options;
  options.model = model_;
  options.ignore_eos = !stop_at_eos_;
  if (!key_.empty()) options.authorization = "Bearer " + key_;
  std::string path = server.target.substr(0, server.target.find('?'));
  while (path.ends_with('/')) path.pop_back();
  if (path.ends_with("/chat/completions")) {
    options.path = path;
  } else if (path.ends_with("/v1")) {
    options.path = path + "/chat/completions";
  } else {
    options.path = path + kEndpoint;
  }
  return options;
}

}  // namespace troupe
