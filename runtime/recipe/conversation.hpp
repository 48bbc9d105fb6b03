// Messages of a conversation, as plain data: what a request holds and a prompt encoder takes.
#pragma once

#include <string>
#include <string_view>

namespace troupe {

enum class Role : unsigned char { kSystem, kUser, kAssistant };

constexpr std::string_view to_string(Role role) {
  return role == Role::kSystem ? "system" : role == Role::kUser ? "user" : "assistant";
}

struct ChatMessage {
  Role role = Role::kUser;
  std::string text;  ///< UTF-8; may be empty

  friend bool operator==(const ChatMessage&, const ChatMessage&) = default;
};

}  // namespace troupe
