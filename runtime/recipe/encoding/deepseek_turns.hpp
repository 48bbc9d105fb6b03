// What the prompts of DeepSeek V4 and V4.1 have in common: control tokens, assistant turns with
// their tool calls, schema lines, response formats, and where the model goes on.
//
//   prompt    = BOS head turn* [generation]
//   assistant = <Assistant> (<think> reasoning </think> | </think>) content [calls] EOS
//   calls     = \n\n <DSML calls> \n (<DSML invoke name="N"> \n argument* </DSML invoke> \n)*
//               </DSML calls>
//
// The two differ in a Dialect (names of tags, number forms) and in how turns are put together,
// which is in v4.cpp and v41.cpp.
//
// Invariant: of a tag, only the token ｜DSML｜ is special; names and values between are text.
// Source: recipe SPEC section 4. Threads: one owner.
#pragma once

#include <string_view>

#include "runtime/recipe/encoding/prompt_writer.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {

// Control tokens, SPEC section 2; ids come from the tokenizer that is loaded.
inline constexpr std::string_view kBosToken = "<｜begin▁of▁sentence｜>";
inline constexpr std::string_view kEosToken = "<｜end▁of▁sentence｜>";
inline constexpr std::string_view kSystemToken = "<｜System｜>";
inline constexpr std::string_view kUserToken = "<｜User｜>";
inline constexpr std::string_view kAssistantToken = "<｜Assistant｜>";
inline constexpr std::string_view kReminderToken = "<｜latest_reminder｜>";
inline constexpr std::string_view kThinkToken = "<think>";
inline constexpr std::string_view kThinkEndToken = "</think>";
inline constexpr std::string_view kDsmlToken = "｜DSML｜";
inline constexpr std::string_view kImageToken = "<｜image｜>";

/// Between the parts of a message and between the messages of one turn (SPEC 3).
inline constexpr std::string_view kBlankLine = "\n\n";

struct Dialect {
  std::string_view calls;  ///< names of tags, as they follow the token ｜DSML｜
  std::string_view invoke;
  std::string_view parameter;
  std::string_view no_arguments;  ///< stands where a call without arguments has none
  JsonStyle json;
};

/// True if a message says nothing at all; an image says something.
bool is_silent(const Message& message);

class DeepseekTurns {
 public:
  /// `pack` and `conversation` outlive it.
  DeepseekTurns(const Dialect& dialect, const PromptPack& pack, const Conversation& conversation);

  PromptWriter& out() { return out_; }

  /// The text that asks for effort; nothing if thinking is off.
  void write_effort();
  /// A schema line for each tool, between the pack's separators.
  /// `tools`: pointers into the conversation.
  void write_schemas(const std::vector<const ToolDefinition*>& tools);
  void write_tools_section(const std::vector<const ToolDefinition*>& tools);
  void write_format();
  /// A whole turn, or a turn left open if it is the last one and the model goes on within it.
  void write_assistant(const Message& message);
  /// Where the model begins, unless it goes on within the last turn.
  void write_generation();

  bool has_tools() const { return has_tools_; }

 private:
  void write_reasoning(const Message& message, bool open);
  void write_calls(const std::vector<ToolCall>& calls);
  void write_arguments(const ToolCall& call);
  void write_argument(std::string_view name, std::string_view value, bool is_string);
  void write_schema(const ToolDefinition& tool);

  const Dialect& dialect_;
  const PromptPack& pack_;
  const Conversation& conversation_;
  const bool has_tools_;
  PromptWriter out_;
};

}  // namespace troupe::recipe
