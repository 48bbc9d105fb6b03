#include "runtime/recipe/request/error_body.hpp"

#include "runtime/recipe/text/api_error.hpp"

namespace troupe::recipe {

std::string error_body(Protocol protocol, Compat compat, const RequestError& error) {
  const ApiError written{error.status, "invalid_request_error", error.param, error.code,
                         error.message};
  const bool messages = protocol == Protocol::kMessages && compat == Compat::kDefault;
  return messages ? messages_error_body(written) : troupe::error_body(written);
}

}  // namespace troupe::recipe
