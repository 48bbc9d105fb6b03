#include "runtime/recipe/chatml.hpp"

#include <utility>

namespace troupe {
namespace {

void add_message(std::vector<PromptSegment>& segments, Role role, const std::string& text) {
  segments.push_back({"<|im_start|>", true});
  segments.push_back({std::string(to_string(role)) + '\n' + text, false});
  segments.push_back({"<|im_end|>", true});
  segments.push_back({"\n", false});
}

}  // namespace

Result<std::vector<PromptSegment>> ChatmlEncoder::encode(
    std::span<const ChatMessage> messages) const {
  if (messages.empty()) return Error{Code::kInvalid, "a conversation needs at least one message"};
  std::vector<PromptSegment> segments;
  segments.reserve(messages.size() * 4 + 6);
  if (messages.front().role != Role::kSystem && !default_system_.empty()) {
    add_message(segments, Role::kSystem, default_system_);
  }
  for (const ChatMessage& message : messages) add_message(segments, message.role, message.text);
  segments.push_back({"<|im_start|>", true});
  segments.push_back({"assistant\n", false});
  return segments;
}

}  // namespace troupe
