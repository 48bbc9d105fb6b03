#include "runtime/recipe/request/issues.hpp"

#include "runtime/recipe/text/api_error.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace troupe::recipe {

bool Issues::fail(RequestError error) {
  if (compat()) {
    error.param.clear();
  } else {
    error.message = shortened(std::move(error.message), kMessageBytesMax);
  }
  if (!error_) error_ = std::move(error);
  return false;
}

bool Issues::shape(std::string message, std::string param) {
  if (compat()) message.insert(0, "invalid request body: ");
  return fail({RequestError::Stage::kParse, std::move(message), std::move(param)});
}

bool Issues::rule(std::string message, std::string param) {
  return fail({RequestError::Stage::kConvert, std::move(message), std::move(param)});
}

bool Issues::unsupported(std::string param, std::string_view why, std::string_view code) {
  std::string message = "'" + param + "' is not supported: ";
  message += why;
  RequestError error{RequestError::Stage::kConvert, std::move(message), std::move(param)};
  error.code = code;
  return fail(std::move(error));
}

bool Issues::unknown_model(std::string_view name) {
  // The names that the reference accepts without configuration, SPEC section 1.
  if (compat()) {
    std::string message =
        "The supported API model names are DeepSeek-V4-Pro, DeepSeek-V4.1-Flash, but you passed ";
    message.append(name).append(".");
    return rule(std::move(message));
  }
  ApiError error = model_not_found(name);
  return fail({RequestError::Stage::kConvert, std::move(error.message), std::move(error.param),
               std::move(error.code), error.status});
}

}  // namespace troupe::recipe
