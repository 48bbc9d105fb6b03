// From a conversation to the prompt that a model was trained on.
//
// Why our own encoders and not the Jinja template of the model file: a template is a program from
// an untrusted file, and its output is one text in which a user's "<|im_end|>" and the template's
// look the same. An encoder gives segments that keep structure and text apart, so that user text
// can never become control tokens.
//
// To add a model family: write its encoder as a new file, add a row to the table in
// prompt_encoder.cpp.
//
// Threads: immutable; share it freely.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation.hpp"
#include "runtime/recipe/tokenizer/tokenizer.hpp"

namespace troupe {

class PromptEncoder {
 public:
  virtual ~PromptEncoder() = default;

  /// The prompt up to where the assistant's next turn begins. kInvalid if this family cannot say
  /// what the messages say.
  virtual Result<std::vector<PromptSegment>> encode(
      std::span<const ChatMessage> messages) const = 0;
};

/// By name: "chatml", or "smollm2" (ChatML with that model's default system line). An unknown name
/// is kUnsupported and listed beside the known ones.
Result<std::shared_ptr<const PromptEncoder>> find_prompt_encoder(std::string_view name);

/// The name of the encoder for a model file's chat template, which is looked at, never run.
Result<std::string_view> recognize_prompt_encoder(std::string_view chat_template);

}  // namespace troupe
