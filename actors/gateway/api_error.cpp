#include "actors/gateway/api_error.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace troupe {

std::uint16_t http_status(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kTooLarge:
    case Code::kUnsupported:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kUnavailable:
    case Code::kLost:
      return 503;
    case Code::kDeadline:
      return 504;
    case Code::kCancelled:
    case Code::kHung:
    case Code::kCorrupt:
    case Code::kIo:
    case Code::kInternal:
      return 500;
  }
  return 500;
}

std::string error_body(Code code, std::string_view message) {
  const std::uint16_t status = http_status(code);
  std::string_view type = "server_error";
  if (status == 404) type = "not_found_error";
  if (status == 400) type = "invalid_request_error";
  std::string_view name = to_string(code);
  if (code == Code::kTooLarge) name = "context_length_exceeded";
  if (code == Code::kNotFound) name = "model_not_found";
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  auto text = [&](std::string_view s) {
    json.String(s.data(), static_cast<rapidjson::SizeType>(s.size()));
  };
  json.StartObject();
  json.Key("error");
  json.StartObject();
  json.Key("message"), text(message);
  json.Key("type"), text(type);
  json.Key("param"), json.Null();
  json.Key("code"), text(name);
  json.EndObject();
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

SessionRespond error_response(std::uint64_t exchange, Code code, std::string_view message,
                              Duration retry_after) {
  SessionRespond answer;
  answer.exchange = exchange;
  answer.status = http_status(code);
  answer.headers.emplace_back("content-type", "application/json");
  if (answer.status == 503) {
    const std::int64_t whole = (retry_after.value + 999'999'999) / 1'000'000'000;
    answer.headers.emplace_back("retry-after", std::to_string(whole));
  }
  answer.body = error_body(code, message);
  return answer;
}

}  // namespace troupe
