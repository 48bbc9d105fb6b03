// Short ways to convert requests in tests that need no vectors: names of models, a made-up prompt
// pack, and what came of a body as one line.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "runtime/recipe/encoding/prompt_pack.hpp"
#include "runtime/recipe/request/request.hpp"

namespace troupe::recipe::test {

inline constexpr const char* kV4 = "DeepSeek-V4-Pro";
inline constexpr const char* kV41 = "DeepSeek-V4.1-Flash";
inline constexpr const char* kPlain = "plain";

inline std::shared_ptr<const PromptPack> made_up_pack() {
  PromptPack pack;
  pack.unsupported_image = "(image)";
  pack.unsupported_document = "(document)";
  pack.mid_system_begin = "(mid ";
  pack.mid_system_end = ")";
  pack.apply_patch.name = "apply_patch";
  pack.apply_patch.description = "patches";
  pack.apply_patch.parameters = R"({"type":"object"})";
  return std::make_shared<const PromptPack>(std::move(pack));
}

inline ConversionOptions options(Compat compat = Compat::kDefault) {
  ConversionOptions options;
  options.compat = compat;
  options.models["plain"] = ModelVersion::kChatml;
  options.models["script/*"] = ModelVersion::kChatml;
  options.default_model = "plain";
  options.pack_v4 = options.pack_v41 = made_up_pack();
  return options;
}

using Converted = std::variant<ConversationRequest, RequestError>;

/// `fields`: the members of the body beside the model.
inline std::string body(const std::string& model, const std::string& fields) {
  return "{\"model\":\"" + model + "\"," + fields + "}";
}

inline ConversationRequest accepted(Protocol protocol, const std::string& body,
                                    const ConversionOptions& options) {
  Converted result = convert_request(protocol, body, options);
  if (const auto* error = std::get_if<RequestError>(&result)) {
    ADD_FAILURE() << body.substr(0, 300) << "\n" << error->message;
    return {};
  }
  return std::get<ConversationRequest>(std::move(result));
}

inline RequestError refused(Protocol protocol, const std::string& body,
                            const ConversionOptions& options) {
  Converted result = convert_request(protocol, body, options);
  if (auto* error = std::get_if<RequestError>(&result)) {
    EXPECT_FALSE(error->message.empty());
    return std::move(*error);
  }
  ADD_FAILURE() << "accepted: " << body.substr(0, 300);
  return {};
}

/// One letter a role: s, u, a, t, r; reasoning in (), parts joined by '+', calls as name[id], a
/// result's id behind '@', loaded tools behind '!', a prefix marked '>'.
inline std::string summary(const Conversation& conversation) {
  std::string out;
  for (const Message& message : conversation.messages) {
    out += out.empty() ? "" : " ";
    out += "suatr"[static_cast<int>(message.role)];
    out += ':';
    if (message.reasoning) out += "(" + *message.reasoning + ")";
    for (std::size_t i = 0; i < message.parts.size(); ++i) {
      const auto* text = std::get_if<std::string>(&message.parts[i]);
      out += i > 0 ? "+" : "";
      out += text != nullptr ? *text : "<" + std::get<ImageSource>(message.parts[i]).path + ">";
    }
    for (const ToolCall& call : message.calls) out += call.name + "[" + call.id + "]";
    if (!message.call_id.empty()) out += "@" + message.call_id;
    for (const std::string& tool : message.loaded_tools) out += "!" + tool;
    if (message.prefix) out += ">";
  }
  return out;
}

}  // namespace troupe::recipe::test
