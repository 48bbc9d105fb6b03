// An error as clients expect it: an HTTP status, and JSON in the form of their protocol. This is
// the one place that writes errors:
//
//   Chat, Responses  {"error":{"message","type","param","code"}}
//   Messages         {"type":"error","error":{"type","message"}}
//   response.failed  {"code","message"}
//
// Why: SDKs decide by status and code whether to retry and what to show (retried: 408, 409, 429,
// 500 and above; never 400, 404, 413, 422). Bad input must never get a status that is retried.
//
// A message may quote the client; whoever quotes cuts (excerpt(), request/issues.hpp). What is
// written here never has an empty message.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace troupe {

struct ApiError {
  int status = 500;
  std::string type = "server_error";
  std::string param;  ///< empty: null in the body
  std::string code;   ///< empty: null in the body
  std::string message;
};

/// 404 with code "model_not_found".
ApiError model_not_found(std::string_view model);
/// Any other failure by its code. What becomes a 500 keeps its details (paths, assertions) to
/// itself: they belong into the log.
ApiError api_error_of(const Error& error);

/// The error as a body of Chat and of Responses, and as the last event of a stream of Chat.
std::string error_body(const ApiError& error);
/// As a body of Messages, and as the last event of its stream.
std::string messages_error_body(const ApiError& error);
/// As the "error" of a response that failed in mid-stream.
std::string response_error(const ApiError& error);

}  // namespace troupe
