#include "runtime/http/refusal.hpp"

namespace troupe::http {

Response to_response(const Refusal& refusal) {
  Response response;
  response.status = refusal.status;
  response.headers = refusal.headers;
  response.headers.emplace_back("content-type", "application/json");
  response.body = std::string("{\"error\":{\"message\":\"") + refusal.message + "\",\"type\":\"" +
                  (refusal.status == 503 ? "service_unavailable" : "invalid_request_error") +
                  "\",\"param\":null,\"code\":\"" + refusal.code + "\"}}";
  return response;
}

}  // namespace troupe::http
