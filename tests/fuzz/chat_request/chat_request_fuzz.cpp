// Any bytes as the body of a chat request: a request within its documented bounds, or a 400.
#include <string_view>
#include <variant>

#include "runtime/base/assert.hpp"
#include "runtime/recipe/chat_request.hpp"
#include "runtime/recipe/text/utf8.hpp"

namespace {

void check(const troupe::ChatRequest& request) {
  TROUPE_ASSERT(!request.messages.empty(), "a conversation is not empty");
  for (const auto& message : request.messages) {
    TROUPE_ASSERT(troupe::is_valid_utf8(message.text), "text is UTF-8");
  }
  const double temperature = request.temperature.value_or(1);
  const double top_p = request.top_p.value_or(1);
  TROUPE_ASSERT(temperature >= 0 && temperature <= 2, "range of the temperature");
  TROUPE_ASSERT(top_p > 0 && top_p <= 1, "range of top_p");
  TROUPE_ASSERT(request.tokens_max.value_or(1) >= 1, "range of max_tokens");
  TROUPE_ASSERT(request.stop.size() <= 16 && request.top_logprobs <= 20, "bounds");
  for (const auto& stop : request.stop) TROUPE_ASSERT(!stop.empty(), "no empty stop string");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = troupe::parse_chat_request({reinterpret_cast<const char*>(data), size});
  if (const auto* request = std::get_if<troupe::ChatRequest>(&parsed)) {
    check(*request);
  } else {
    const auto& error = std::get<troupe::ApiError>(parsed);
    TROUPE_ASSERT(error.status == 400 && !error.message.empty(), "refused with a reason");
    TROUPE_ASSERT(error.message.size() <= 400, "little of the input comes back");
    TROUPE_ASSERT(troupe::is_valid_utf8(troupe::error_body(error)), "the answer is UTF-8");
  }
  return 0;
}
