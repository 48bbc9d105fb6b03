// A made-up prompt pack, so that tests need no model's: short texts that name themselves, with a
// control token where the real ones have some. And short ways to write conversations down.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/recipe/encoding/encoding.hpp"

namespace troupe::recipe::test {

/// The members that both versions have.
inline constexpr const char* kTinyTexts = R"json(
  "effort_low": {"text": "", "special_byte_ranges": []},
  "effort_high": {"text": "(high)", "special_byte_ranges": []},
  "effort_max": {"text": "(max)", "special_byte_ranges": []},
  "tools_head": {"text": "(tools <think>:", "special_byte_ranges": [[7, 14]]},
  "tools_sep": {"text": "|", "special_byte_ranges": []},
  "tools_tail": {"text": ")", "special_byte_ranges": []},
  "json_object": {"text": "(json)", "special_byte_ranges": []},
  "json_schema_head": {"text": "(schema)", "special_byte_ranges": []},
  "required_suffix": {"text": "<｜DSML｜go>", "special_byte_ranges": [[1, 11]]},
  "unsupported_document_responses": "(document)",
  "apply_patch_tool": {"name": "apply_patch", "description": "d", "strict": null,
                       "parameters": {"type": "object", "b": 1, "a": 2}})json";

/// JSON of a pack file for both versions.
inline std::string tiny_pack_json() {
  return std::string("{\"v4\": {") + kTinyTexts +
         R"json(, "unsupported_image_v4": "(image)", "messages_mid_system": ["(mid ", ")"]},)json" +
         "\"v4.1\": {" + kTinyTexts + R"json(, "updated_tools_head": "(new)"}})json";
}

inline std::shared_ptr<const PromptPack> tiny_pack(ModelVersion version) {
  return std::make_shared<PromptPack>(parse_prompt_pack(tiny_pack_json(), version).value());
}

inline std::shared_ptr<const Encoding> tiny_encoding(ModelVersion version) {
  if (version == ModelVersion::kChatml) return make_encoding(version, nullptr).value();
  return make_encoding(version, tiny_pack(version)).value();
}

inline Message say(Role role, std::string text) {
  Message message;
  message.role = role;
  message.parts.emplace_back(std::move(text));
  return message;
}
inline Message system(std::string text) {
  return say(Role::kSystem, std::move(text));
}
inline Message user(std::string text) {
  return say(Role::kUser, std::move(text));
}
inline Message assistant(std::string text) {
  return say(Role::kAssistant, std::move(text));
}
inline Message result(std::string text) {
  return say(Role::kTool, std::move(text));
}
inline Message reminder(std::string text) {
  return say(Role::kLatestReminder, std::move(text));
}
inline Message call(std::string name, std::string arguments) {
  Message message = assistant("");
  message.calls.push_back({"call_1", std::move(name), std::move(arguments)});
  return message;
}

/// A conversation without thinking.
inline Conversation talk(std::vector<Message> messages) {
  Conversation conversation;
  conversation.messages = std::move(messages);
  conversation.thinking = false;
  return conversation;
}

inline ToolDefinition tool(std::string name) {
  ToolDefinition tool;
  tool.name = std::move(name);
  return tool;
}

/// Spellings of the special ranges, in order.
inline std::vector<std::string> specials_of(const RenderedPrompt& prompt) {
  std::vector<std::string> spellings;
  for (const ByteRange& range : prompt.specials) {
    spellings.push_back(prompt.text.substr(range.begin, range.end - range.begin));
  }
  return spellings;
}

/// The prompt with every special range in short and between braces: "{user}hi". What is not in
/// braces is text, whatever its spelling.
inline std::string marked(const RenderedPrompt& prompt) {
  static const std::vector<std::pair<std::string, std::string>> kShort = {
      {"<｜begin▁of▁sentence｜>", "bos"},
      {"<｜end▁of▁sentence｜>", "eos"},
      {"<｜System｜>", "system"},
      {"<｜User｜>", "user"},
      {"<｜Assistant｜>", "assistant"},
      {"<｜latest_reminder｜>", "reminder"},
      {"<think>", "think"},
      {"</think>", "/think"},
      {"｜DSML｜", "D"},
      {"<｜image｜>", "image"},
      {"<|im_start|>", "start"},
      {"<|im_end|>", "end"}};
  std::string out;
  std::size_t at = 0;
  for (const ByteRange& range : prompt.specials) {
    const std::string spelling = prompt.text.substr(range.begin, range.end - range.begin);
    std::string name = "unknown: " + spelling;
    for (const auto& [long_form, short_form] : kShort) {
      if (spelling == long_form) name = short_form;
    }
    out += prompt.text.substr(at, range.begin - at) + "{" + name + "}";
    at = range.end;
  }
  return out + prompt.text.substr(at);
}

inline std::string render(ModelVersion version, const Conversation& conversation) {
  return marked(tiny_encoding(version)->render(conversation).value());
}

}  // namespace troupe::recipe::test
