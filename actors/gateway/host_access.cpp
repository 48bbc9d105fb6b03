#include "actors/gateway/host_access.hpp"

#include "actors/gateway/api_error.hpp"
#include "actors/gateway/health.hpp"
#include "actors/gateway/routes.hpp"

namespace troupe {

namespace {

bool is_open(std::string_view path) {
  return path == kMetricsPath || path == kOpenapiPath || path == "/version" ||
         health_answer(path, ServingState::kServing);
}

}  // namespace

Access access_of(const KeyRing& keys, const http::Request& request, std::uint64_t exchange) {
  if (keys.empty() || is_open(request.path)) return {};
  const std::string_view key = presented_key(request.headers);
  const TenantLimits* tenant = keys.find(key);
  if (tenant != nullptr) return {tenant->name, std::nullopt};
  ApiError error;
  error.status = 401;
  error.type = "invalid_request_error";
  error.code = "invalid_api_key";
  error.message = key.empty()
                      ? "no API key: send it as Authorization: Bearer KEY or as x-api-key: KEY"
                      : "the API key is not one of this server's";
  return {"", error_response(exchange, protocol_of(request.path, request.headers), error)};
}

}  // namespace troupe
