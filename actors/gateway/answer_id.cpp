#include "actors/gateway/answer_id.hpp"

#include <charconv>

namespace troupe {

namespace {

constexpr const char* kChat = "chatcmpl-";
constexpr const char* kResponses = "resp_";
constexpr const char* kMessages = "msg_";
constexpr const char* kCompletions = "cmpl-";
constexpr std::size_t kDigits = 16;
/// Of a response that is kept (stored_response_id.hpp): its number, and what cannot be guessed.
constexpr std::size_t kStoredDigits = 48;

}  // namespace

Subject answer_subject(recipe::Protocol protocol, RequestId id) {
  switch (protocol) {
    case recipe::Protocol::kResponses:
      return {kResponses, id.value};
    case recipe::Protocol::kMessages:
      return {kMessages, id.value};
    case recipe::Protocol::kCompletions:
      return {kCompletions, id.value};
    case recipe::Protocol::kChat:
      break;
  }
  return {kChat, id.value};
}

std::string answer_id(recipe::Protocol protocol, RequestId id) {
  return to_string(answer_subject(protocol, id));
}

std::optional<RequestId> request_of(std::string_view text) {
  bool hex = text.size() == kDigits && text.starts_with('0');
  for (const std::string_view prefix : {kChat, kResponses, kMessages, kCompletions}) {
    if (!text.starts_with(prefix)) continue;
    hex = true;
    text.remove_prefix(prefix.size());
    if (text.size() == kStoredDigits) text = text.substr(0, kDigits);
    break;
  }
  std::uint64_t id = 0;
  const char* const last = text.data() + text.size();
  const auto [end, problem] = std::from_chars(text.data(), last, id, hex ? 16 : 10);
  if (problem != std::errc() || end != last) return std::nullopt;
  return RequestId(id);
}

}  // namespace troupe
