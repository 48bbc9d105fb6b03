// An error as clients of the OpenAI API expect it: an HTTP status and the body
// {"error":{"message","type","param","code"}}.
//
// Why: SDKs decide by status and code whether to retry and what to show (retried: 408, 409, 429,
// 500 and above; never 400, 404, 413, 422). Bad input must never get a status that is retried.
//
// Invariant: message is never empty and repeats at most 200 bytes of the client's input.
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

/// The JSON body.
std::string error_body(const ApiError& error);

}  // namespace troupe
