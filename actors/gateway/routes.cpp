#include "actors/gateway/routes.hpp"

#include <algorithm>
#include <charconv>

#include "actors/gateway/health.hpp"

namespace troupe {

namespace {

struct OperationRow {
  std::string_view path;
  Operation operation;
};
constexpr OperationRow kOperations[] = {
    {"/v1/chat/completions", Operation::kChat},
    {"/v1/chat/completions/render", Operation::kRender},
    {"/v1/completions", Operation::kCompletions},
    {"/v1/responses", Operation::kResponses},
    {"/v1/messages", Operation::kMessages},
    {"/v1/messages/count_tokens", Operation::kCountTokens},
    {"/tokenize", Operation::kTokenize},
    {"/v1/tokenize", Operation::kTokenize},
    {"/detokenize", Operation::kDetokenize},
    {"/v1/detokenize", Operation::kDetokenize},
};

struct PageRow {
  std::string_view path;
  Page page;
};
constexpr PageRow kPages[] = {
    {"/v1/models", Page::kModels},
    {"/version", Page::kVersion},
    {"/load", Page::kLoad},
};

constexpr std::string_view kModelPrefix = "/v1/models/";
constexpr std::string_view kResponsePrefix = "/v1/responses/";
constexpr std::string_view kInputItems = "/input_items";

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  while (!text.empty()) {
    std::size_t used = 1;
    unsigned char byte = static_cast<unsigned char>(text.front());
    if (byte == '%') {
      used = 3;
      if (text.size() < used) return std::nullopt;
      const char* const last = text.data() + used;
      const auto [end, problem] = std::from_chars(text.data() + 1, last, byte, 16);
      if (problem != std::errc() || end != last) return std::nullopt;
    }
    decoded += static_cast<char>(byte);
    text.remove_prefix(used);
  }
  return decoded;
}

std::optional<Operation> operation_of(std::string_view path) {
  for (const OperationRow& row : kOperations) {
    if (row.path == path) return row.operation;
  }
  return std::nullopt;
}

std::optional<Page> page_of(std::string_view path) {
  for (const PageRow& row : kPages) {
    if (row.path == path) return row.page;
  }
  if (path.starts_with(kModelPrefix) && path.size() > kModelPrefix.size()) return Page::kModel;
  return std::nullopt;
}

std::optional<std::string> model_of(std::string_view path) {
  if (!path.starts_with(kModelPrefix)) return std::nullopt;
  return percent_decoded(path.substr(kModelPrefix.size()));
}

std::optional<ResponsePath> response_of(std::string_view path) {
  if (!path.starts_with(kResponsePrefix)) return std::nullopt;
  std::string_view id = path.substr(kResponsePrefix.size());
  ResponsePath found;
  found.input_items = id.ends_with(kInputItems);
  if (found.input_items) id.remove_suffix(kInputItems.size());
  if (id.empty() || id.find('/') != std::string_view::npos) return std::nullopt;
  auto decoded = percent_decoded(id);
  if (!decoded) return std::nullopt;
  found.id = std::move(*decoded);
  return found;
}

std::vector<std::string_view> route_templates() {
  std::vector<std::string_view> paths{kMetricsPath, kOpenapiPath, "/v1/models/{model}",
                                      "/v1/responses/{response_id}",
                                      "/v1/responses/{response_id}/input_items"};
  for (const OperationRow& row : kOperations) paths.push_back(row.path);
  for (const PageRow& row : kPages) paths.push_back(row.path);
  for (const std::string_view path : kHealthPaths) paths.push_back(path);
  return paths;
}

const char* methods_of(std::string_view path) {
  if (operation_of(path)) return "POST, OPTIONS";
  const auto response = response_of(path);
  if (response && !response->input_items) return "GET, HEAD, DELETE, OPTIONS";
  const bool reads = response || page_of(path) || path == kMetricsPath || path == kOpenapiPath ||
                     health_answer(path, ServingState::kServing);
  return reads ? "GET, HEAD, OPTIONS" : nullptr;
}

recipe::Protocol protocol_of(std::string_view path) {
  if (path.starts_with("/v1/responses")) return recipe::Protocol::kResponses;
  if (path == "/v1/completions") return recipe::Protocol::kCompletions;
  if (path.starts_with("/v1/messages")) return recipe::Protocol::kMessages;
  return recipe::Protocol::kChat;
}

recipe::Protocol protocol_of(const HttpArrived& arrived) {
  return protocol_of(arrived.path, arrived.headers);
}

recipe::Protocol protocol_of(std::string_view path, const HeaderList& headers) {
  const auto page = page_of(path);
  const bool shared = page == Page::kModels || page == Page::kModel;
  const bool anthropic =
      shared && std::any_of(headers.begin(), headers.end(),
                            [](const auto& header) { return header.first == "anthropic-version"; });
  return anthropic ? recipe::Protocol::kMessages : protocol_of(path);
}

}  // namespace troupe
