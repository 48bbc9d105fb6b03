#include "runtime/recipe/request/chat_messages.hpp"

#include <unordered_map>

#include "runtime/recipe/request/images.hpp"

namespace troupe::recipe {
namespace {

Role role_named(std::string_view name) {
  if (name == "user") return Role::kUser;
  if (name == "assistant") return Role::kAssistant;
  if (name == "tool") return Role::kTool;
  if (name == "latest_reminder") return Role::kLatestReminder;
  return Role::kSystem;  // "developer" too
}

class ChatMessages {
 public:
  ChatMessages(const List<ChatMessageBody>& bodies, Conversion& conversion)
      : bodies_(bodies),
        conversion_(conversion),
        issues_(conversion.issues),
        messages_(conversion.request.conversation.messages) {}

  bool run() {
    if (bodies_.empty()) return issues_.rule("Empty input messages", "messages");
    messages_.reserve(bodies_.size());
    for (at_ = 0; at_ < bodies_.size(); ++at_) {
      if (!add(bodies_[at_].value)) return false;
    }
    return unanswered_ == 0 || too_few_results();
  }

 private:
  struct Awaited {
    std::size_t position;  // among the calls of its message
    bool answered = false;
  };

  std::string path() const { return "messages[" + std::to_string(at_) + "]"; }

  bool add(const ChatMessageBody& body) {
    Message message;
    message.role = role_named(body.role.value);
    if (message.role == Role::kTool) return add_result(body, std::move(message));
    if (unanswered_ > 0) return too_few_results();
    awaited_.clear();
    if (message.role == Role::kAssistant && !read_assistant(body, message)) return false;
    if (!read_content(body, message)) return false;
    // The reference drops system messages that say nothing before anything else is merged.
    if (message.role == Role::kSystem && is_empty_text(message)) return true;
    messages_.push_back(std::move(message));
    if (unanswered_ > 0) messages_.resize(messages_.size() + unanswered_);  // their places
    return true;
  }

  bool add_result(const ChatMessageBody& body, Message message) {
    const std::string_view id = body.tool_call_id.value;
    if (unanswered_ == 0) {
      return issues_.rule(
          "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
          path());
    }
    const auto call = awaited_.find(id);
    if (call == awaited_.end()) {
      // The reference names the id that came, not those that are missing.
      return issues_.rule(
          "An assistant message with 'tool_calls' must be followed by tool messages responding to "
          "each 'tool_call_id', The following tool_call_ids did not have response messages: " +
              std::string(id),
          path() + ".tool_call_id");
    }
    if (std::exchange(call->second.answered, true)) return duplicate(id);
    if (!read_content(body, message)) return false;
    message.call_id = id;
    const std::size_t first = messages_.size() - awaited_.size();
    messages_[first + call->second.position] = std::move(message);
    --unanswered_;
    return true;
  }

  bool too_few_results() {
    return issues_.rule(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
        path());
  }

  bool duplicate(std::string_view id) {
    return issues_.rule("Duplicate value for 'tool_call_id' of " + std::string(id) +
                            " in message[" + std::to_string(at_) + "]",
                        path());
  }

  bool read_assistant(const ChatMessageBody& body, Message& message) {
    const auto& calls = body.tool_calls;
    if (conversion_.compat() && calls.given() && calls.value.empty()) {
      return issues_.rule("Invalid '" + path() +
                          ".tool_calls': empty array. Expected an array with minimum length 1, "
                          "but got an empty array instead.");
    }
    if (conversion_.compat() && !body.content.given() && calls.value.empty()) {
      return issues_.rule("Invalid assistant message: content or tool_calls must be set");
    }
    if (body.reasoning_content.given()) {
      message.reasoning = body.reasoning_content.value;
    } else if (!conversion_.compat() && body.reasoning.given()) {
      message.reasoning = body.reasoning.value;
    }
    message.prefix = body.prefix.given() && body.prefix.value;
    message.calls.reserve(calls.value.size());
    for (const auto& call : calls.value) {
      const ChatCallFunction& function = call.value.function.value;
      const std::string_view id = call.value.id.value;
      if (!awaited_.try_emplace(id, Awaited{message.calls.size()}).second) return duplicate(id);
      message.calls.push_back({std::string(id), std::string(function.name.value),
                               std::string(function.arguments.value)});
    }
    unanswered_ = message.calls.size();
    return true;
  }

  bool read_content(const ChatMessageBody& body, Message& message) {
    if (!body.content.given()) return true;
    const ChatContent& content = body.content.value;
    if (!content.is_container) {
      message.parts.emplace_back(std::in_place_type<std::string>, content.scalar);
      return true;
    }
    message.parts.reserve(content.container.size());
    for (const auto& part : content.container) {
      if (!read_part(part.value, message)) return false;
    }
    return true;
  }

  bool read_part(const ChatPart& part, Message& message) {
    const std::string_view type = part.type.value;
    if (type == "text" || type == "refusal") {
      message.parts.emplace_back(std::in_place_type<std::string>,
                                 type == "text" ? part.text.value : part.refusal.value);
      return true;
    }
    if (type == "file" && !conversion_.is_v4() && !check_file(part)) return false;
    if (message.role == Role::kAssistant && !conversion_.is_v4()) {
      return issues_.rule("Image in assistant message is not supported", path());
    }
    ImageSource image;
    if (type == "file" ? !read_file(part, image) : !read_image(part, image)) return false;
    message.parts.push_back(conversion_.image_part(std::move(image)));
    return true;
  }

  bool read_image(const ChatPart& part, ImageSource& image) {
    const ChatImageUrl& body = part.image_url.value;
    return read_image_url(body.url.value, body.detail.value, "." + path(),
                          {"Unsupported image_url format"}, conversion_.version(), issues_, image);
  }

  bool read_file(const ChatPart& part, ImageSource& image) {
    return read_image_url(part.file_data.value, {}, "." + path(),
                          {"Unsupported image_url format", "file"}, conversion_.version(), issues_,
                          image);
  }

  bool check_file(const ChatPart& part) {
    const auto refuse = [&](std::string_view why) {
      return issues_.rule("." + path() + ": " + std::string(why), path());
    };
    const std::string_view data = part.file_data.value;
    if (part.file_id.given() && part.file_data.given()) {
      return refuse("file cannot have both file_id and file_data");
    }
    if (part.file_id.given()) {
      return refuse("file_id is not supported. Pass the image as a base64 data url instead.");
    }
    if (!part.file_data.given()) return refuse("file must have a file_id or file_data");
    if (is_data_url(data) && data.find(',') != std::string_view::npos) return true;
    return refuse("file_data is not a valid base64 data url");
  }

  const List<ChatMessageBody>& bodies_;
  Conversion& conversion_;
  Issues& issues_;
  std::vector<Message>& messages_;
  std::size_t at_ = 0;
  std::size_t unanswered_ = 0;                             // calls of the last assistant message
  std::unordered_map<std::string_view, Awaited> awaited_;  // its calls by id
};

}  // namespace

bool convert_chat_messages(const List<ChatMessageBody>& messages, Conversion& conversion) {
  return ChatMessages(messages, conversion).run();
}

}  // namespace troupe::recipe
