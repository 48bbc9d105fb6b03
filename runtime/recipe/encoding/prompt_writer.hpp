// Writes a prompt: text, control tokens, boiler-plate and image placeholders, in order.
//
// It keeps RenderedPrompt's two halves together: whatever goes through text() is text, whatever its
// spelling; only special(), pack() and image() mark ranges.
//
// Threads: one owner. Cost: one growing string, reserved once.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "runtime/recipe/conversation/rendered_prompt.hpp"
#include "runtime/recipe/encoding/prompt_pack.hpp"

namespace troupe::recipe {

class PromptWriter {
 public:
  explicit PromptWriter(std::size_t bytes_expected) { prompt_.text.reserve(bytes_expected); }

  PromptWriter& text(std::string_view text) {
    prompt_.text += text;
    return *this;
  }

  /// `spelling` becomes one token.
  PromptWriter& special(std::string_view spelling) {
    const std::size_t begin = prompt_.text.size();
    prompt_.text += spelling;
    prompt_.specials.push_back({begin, prompt_.text.size()});
    return *this;
  }

  PromptWriter& pack(const PackText& pack) {
    const std::size_t begin = prompt_.text.size();
    prompt_.text += pack.text;
    for (const ByteRange& range : pack.specials) {
      prompt_.specials.push_back({begin + range.begin, begin + range.end});
    }
    return *this;
  }

  PromptWriter& image(std::string_view spelling, const ImageSource& source) {
    prompt_.images.push_back(source);
    return special(spelling);
  }

  /// Where to append text that another function writes.
  std::string& end() { return prompt_.text; }

  RenderedPrompt take() { return std::move(prompt_); }

 private:
  RenderedPrompt prompt_;
};

/// The bytes of the texts of a message's parts.
inline std::size_t text_bytes(const Message& message) {
  std::size_t bytes = 0;
  for (const Part& part : message.parts) {
    if (const auto* text = std::get_if<std::string>(&part)) bytes += text->size() + 2;
  }
  return bytes;
}

/// About the length of the whole prompt, for reserving: too much rather than too little.
inline std::size_t expected_bytes(const Conversation& conversation) {
  constexpr std::size_t kBoilerplate = 4096;  // effort text, tools section, turn marks
  std::size_t bytes = kBoilerplate;
  for (const Message& message : conversation.messages) {
    bytes += text_bytes(message) + (message.reasoning ? message.reasoning->size() : 0) + 64;
    for (const ToolCall& call : message.calls) bytes += call.arguments.size() * 2 + 128;
  }
  for (const ToolDefinition& tool : conversation.tools) bytes += tool.parameters.size() * 2 + 256;
  return bytes;
}

}  // namespace troupe::recipe
