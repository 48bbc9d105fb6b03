#include "tools/traffic/traffic_options.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace troupe {

namespace {

constexpr const char* kEndpoint = "/v1/chat/completions";

/// Registers what is not about the load, so that it stands first in the help.
cli::Command& with_server(cli::Command& command, std::string& url, std::string& model,
                          std::string& key) {
  command.option("--url,--base-url", url, "the server").show_default();
  command.option("--model", model,
                 "the model's name (GET /v1/models lists them); default: the server's own");
  command.option("--api-key", key, "sent as a bearer token").variable("TROUPE_API_KEY");
  return command;
}

/// The members of a JSON object, without its braces.
Result<std::string> members_of(const std::string& text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError() || !document.IsObject()) {
    return Error{Code::kInvalid, "--extra-body: expected a JSON object as {\"temperature\": 0}"};
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  document.Accept(writer);
  return std::string(buffer.GetString() + 1, buffer.GetSize() - 2);
}

}  // namespace

TrafficOptions::TrafficOptions(cli::Command& command)
    : load_(with_server(command, url_, model_, key_)) {
  command.option("--format", format, "table to print").one_of({"vllm", "aiperf"}).show_default();
  command.flag("--json", json, "print one JSON object instead of a table");
  command.option("--max-error-share", max_error_share, "more failures: exit code 1")
      .between(0, 1)
      .show_default();
  command.flag("--stop-at-eos", stop_at_eos_, "let the model end its answers itself");
  command.flag("--ignore-eos", ignore_eos_, "answers have the length asked for (as it is anyway)");
  command.option("--extra-body", extra_body_, "JSON object whose members every body gets");
}

Result<http::Url> TrafficOptions::server() const {
  return http::parse_url(url_);
}

Result<ChatPrompts::Options> TrafficOptions::prompts(const http::Url& server) const {
  if (stop_at_eos_ && ignore_eos_) {
    return Error{Code::kInvalid, "--stop-at-eos or --ignore-eos, not both"};
  }
  ChatPrompts::Options options;
  options.model = model_;
  options.ignore_eos = !stop_at_eos_;
  if (!extra_body_.empty()) {
    TROUPE_TRY_ASSIGN(options.extra_body, members_of(extra_body_));
  }
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
