// ChatML: <|im_start|>ROLE\nTEXT<|im_end|>\n for each message, then <|im_start|>assistant\n.
//
// SmolLM2, Qwen and others use it. Their templates differ in what they say when the conversation
// does not begin with a system message: some insert a default one.
#pragma once

#include <string>

#include "runtime/recipe/prompt_encoder.hpp"

namespace troupe {

class ChatmlEncoder : public PromptEncoder {
 public:
  /// `default_system`: used if the first message is not a system message; empty: none is added.
  explicit ChatmlEncoder(std::string default_system) : default_system_(std::move(default_system)) {}

  Result<std::vector<PromptSegment>> encode(std::span<const ChatMessage> messages) const override;

 private:
  std::string default_system_;
};

}  // namespace troupe
