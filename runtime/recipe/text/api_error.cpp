#include "runtime/recipe/text/api_error.hpp"

#include <utility>

#include "runtime/recipe/text/json_writer.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe {
namespace {

/// A code of Messages that its SDK looks for, in "details" beside the message.
constexpr std::string_view kThreadUnsupported = "thread_unsupported_request";
constexpr const char* kInvalidRequest = "invalid_request_error";

struct Mapping {
  int status;
  const char* type;
  const char* code;
};

Mapping mapping_of(Code code) {
  switch (code) {
    case Code::kInvalid:
    case Code::kUnsupported:
      return {400, kInvalidRequest, ""};
    case Code::kNotFound:
      return {404, kInvalidRequest, "not_found"};
    case Code::kTooLarge:
      return {413, kInvalidRequest, "request_too_large"};
    case Code::kUnavailable:
      return {503, "server_error", "overloaded"};
    case Code::kDeadline:
      return {504, "server_error", "deadline_exceeded"};
    case Code::kCancelled:
      return {499, "request_cancelled", "cancelled"};
    case Code::kLost:
    case Code::kHung:
      return {503, "server_error", "worker_lost"};
    case Code::kCorrupt:
    case Code::kIo:
    case Code::kInternal:
      break;
  }
  return {500, "server_error", "internal_error"};
}

/// How Messages names what went wrong.
std::string_view messages_type(int status) {
  switch (status) {
    case 400:
      return kInvalidRequest;
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
    case 529:
      return "overloaded_error";
    default:
      return status < 500 ? kInvalidRequest : "api_error";
  }
}

std::string_view message_of(const ApiError& error) {
  return error.message.empty() ? std::string_view("unknown error") : error.message;
}

}  // namespace

ApiError model_not_found(std::string_view model) {
  return {404, kInvalidRequest, "model", "model_not_found",
          "The model '" + excerpt(model, 128) +
              "' does not exist. GET /v1/models lists those that do."};
}

ApiError api_error_of(const Error& error) {
  const Mapping mapping = mapping_of(error.code);
  std::string message = error.message;
  if (mapping.status == 500 || message.empty()) {
    message = "The server failed to answer this request: " + std::string(to_string(error.code));
  }
  return {mapping.status, mapping.type, "", mapping.code, std::move(message)};
}

std::string error_body(const ApiError& error) {
  JsonWriter json;
  json.open_object().key("error").open_object();
  json.key("message").text(message_of(error));
  json.key("type").text(error.type);
  json.key("param").text_or_null(error.param);
  json.key("code").text_or_null(error.code);
  json.close_object().close_object();
  return json.take();
}

std::string messages_error_body(const ApiError& error) {
  JsonWriter json;
  json.open_object().key("type").text("error").key("error").open_object();
  json.key("type").text(messages_type(error.status)).key("message").text(message_of(error));
  if (error.code == kThreadUnsupported) {
    json.key("details").open_object().key("error_code").text(error.code).close_object();
  }
  json.close_object().close_object();
  return json.take();
}

std::string response_error(const ApiError& error) {
  JsonWriter json;
  json.open_object().key("code").text(error.code.empty() ? error.type : error.code);
  json.key("message").text(message_of(error)).close_object();
  return json.take();
}

}  // namespace troupe
