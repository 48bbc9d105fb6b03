// Which path asks for what; the health paths have a list of their own (health.hpp).
//
//   POST         an Operation: a request actor, whose preparation runs on the Compute pool
//   GET          a Page: the gateway answers at once, from what it knows
//   GET, DELETE  a kept response: a request actor asks the store; no rank, and no place among the
//                requests that count
//
// The spellings are those that clients and load balancers already use (shared serving/DEFAULTS.md
// section 1). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/gateway/session_messages.hpp"
#include "runtime/recipe/conversation/conversation_request.hpp"

namespace troupe {

enum class Operation : std::uint8_t {
  kChat,
  kCompletions,
  kResponses,
  kMessages,
  kCountTokens,  ///< Messages: how many tokens a prompt has
  kRender,       ///< Chat: the prompt itself
  kTokenize,
  kDetokenize,
};

enum class Page : std::uint8_t {
  kModels,
  kModel,  ///< one of them: model_of() says which
  kVersion,
  kLoad,
};

/// What the HTTP host answers by itself, beside the health paths.
inline constexpr std::string_view kMetricsPath = "/metrics";
inline constexpr std::string_view kOpenapiPath = "/openapi.json";

std::optional<Operation> operation_of(std::string_view path);
std::optional<Page> page_of(std::string_view path);

/// The name in /v1/models/NAME, with %2F and the like decoded. Nothing if an escape is broken.
std::optional<std::string> model_of(std::string_view path);

/// A kept response: GET shows it or what was put into it, DELETE forgets it.
struct ResponsePath {
  std::string id;            ///< decoded
  bool input_items = false;  ///< /v1/responses/ID/input_items, which has no DELETE
};
std::optional<ResponsePath> response_of(std::string_view path);

/// Every path that is served, with {name} where anything may stand: for the tests that keep
/// /openapi.json true.
std::vector<std::string_view> route_templates();

/// %2F and the like decoded; nothing if an escape is broken.
std::optional<std::string> percent_decoded(std::string_view text);

/// What a path takes, as `allow` says it; null: there is no such path.
const char* methods_of(std::string_view path);

/// Whose errors a path has; paths of no protocol speak as Chat Completions does.
recipe::Protocol protocol_of(std::string_view path);
/// The same of a request: /v1/models is Anthropic's too, whose clients send `anthropic-version`.
recipe::Protocol protocol_of(const HttpArrived& arrived);
recipe::Protocol protocol_of(std::string_view path, const HeaderList& headers);

}  // namespace troupe
