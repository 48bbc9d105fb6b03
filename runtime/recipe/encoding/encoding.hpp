// From a conversation to the prompt that a model was trained on.
//
// Why our own encodings and not the Jinja template of the model file: a template is a program from
// an untrusted file, and its output is one text in which a user's "<|im_end|>" and the template's
// look the same. An encoding marks what it wrote as structure, so that the rest can never become
// control tokens.
//
// To add one: a new file with a class, its builder in builders.hpp, a row in encoding.cpp. Nothing
// else changes; the requests of all protocols end in the same Conversation.
//
// Invariants:
//   1. Only what an encoding itself writes is in RenderedPrompt::specials, besides the marked
//   places
//      of its prompt pack: never the spelling of a control token in a message, a tool call, its
//      arguments, a result, a schema or a name.
//   2. The same conversation gives the same prompt, whichever protocol it came by.
//   3. Texts of messages stand in the prompt byte for byte.
//
// Source: recipe SPEC section 4. Threads: immutable; share it freely. Cost: linear in the texts.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/base/result.hpp"
#include "runtime/recipe/conversation/conversation.hpp"
#include "runtime/recipe/conversation/rendered_prompt.hpp"
#include "runtime/recipe/encoding/prompt_pack.hpp"

namespace troupe::recipe {

class Encoding {
 public:
  virtual ~Encoding() = default;

  /// The prompt up to where the model goes on. kUnsupported if this format has no way to say what
  /// the conversation holds, kInvalid if it needs messages and there are none (ChatML).
  virtual Result<RenderedPrompt> render(const Conversation& conversation) const = 0;
};

/// By name: "deepseek-v4", "deepseek-v4.1", "chatml", or "smollm2" (ChatML with that model's
/// default system line). `pack`: DeepSeek's formats need one of their version, others ignore it.
/// An unknown name is kUnsupported and listed beside the known ones; a missing pack is kInvalid.
Result<std::shared_ptr<const Encoding>> make_encoding(std::string_view name,
                                                      std::shared_ptr<const PromptPack> pack);

/// The plain encoding of a version; kChatml is "chatml".
Result<std::shared_ptr<const Encoding>> make_encoding(ModelVersion version,
                                                      std::shared_ptr<const PromptPack> pack);

/// The name of the encoding for a model file's chat template, which is looked at, never run.
Result<std::string_view> recognize_encoding(std::string_view chat_template);

}  // namespace troupe::recipe
