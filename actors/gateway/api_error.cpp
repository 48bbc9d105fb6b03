#include "actors/gateway/api_error.hpp"

namespace troupe {

SessionRespond error_response(std::uint64_t exchange, recipe::Protocol protocol,
                              const ApiError& error, Duration retry_after) {
  SessionRespond answer;
  answer.exchange = exchange;
  answer.facts.ending = AnswerEnding::kError;
  answer.facts.code = error.code;
  const bool overloaded = protocol == recipe::Protocol::kMessages && error.status == 503;
  answer.status = overloaded ? 529 : static_cast<std::uint16_t>(error.status);
  answer.headers.emplace_back("content-type", "application/json");
  if (error.status == 401) answer.headers.emplace_back("www-authenticate", "Bearer");
  if (error.status == 503 || error.status == 429) {
    const std::int64_t whole = (retry_after.value + 999'999'999) / 1'000'000'000;
    answer.headers.emplace_back("retry-after", std::to_string(whole));
  }
  answer.body =
      protocol == recipe::Protocol::kMessages ? messages_error_body(error) : error_body(error);
  return answer;
}

SessionRespond error_response(std::uint64_t exchange, recipe::Protocol protocol, Code code,
                              std::string message, Duration retry_after) {
  return error_response(exchange, protocol, api_error_of(Error{code, std::move(message)}),
                        retry_after);
}

}  // namespace troupe
