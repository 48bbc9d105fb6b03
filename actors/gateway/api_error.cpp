#include "actors/gateway/api_error.hpp"

#include "runtime/recipe/stream/messages_answer.hpp"

namespace troupe {

SessionRespond error_response(std::uint64_t exchange, recipe::Protocol protocol,
                              const ApiError& error, Duration retry_after) {
  SessionRespond answer;
  answer.exchange = exchange;
  answer.status = static_cast<std::uint16_t>(error.status);
  answer.headers.emplace_back("content-type", "application/json");
  if (error.status == 503 || error.status == 429) {
    const std::int64_t whole = (retry_after.value + 999'999'999) / 1'000'000'000;
    answer.headers.emplace_back("retry-after", std::to_string(whole));
  }
  answer.body = protocol == recipe::Protocol::kMessages ? recipe::messages_error_body(error)
                                                        : error_body(error);
  return answer;
}

SessionRespond error_response(std::uint64_t exchange, recipe::Protocol protocol, Code code,
                              std::string message, Duration retry_after) {
  return error_response(exchange, protocol, api_error_of(Error{code, std::move(message)}),
                        retry_after);
}

}  // namespace troupe
