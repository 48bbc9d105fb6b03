// What a client said, as plain data: the same for all three protocols, and all that an encoding
// needs to write the prompt.
//
// Why one type: Chat Completions, Responses and Messages differ in shape, not in what a model is
// shown. Each request parser (request/) ends here and each encoding (encoding/) begins here, so
// that N protocols and M models need N + M files.
//
// Invariants, kept by the request parsers:
//   1. Texts are valid UTF-8 and exactly what the client sent: nothing is trimmed or escaped.
//   2. JSON (tool parameters, schemas) is valid and kept as text in the client's key order.
//   3. Results of an assistant's calls follow it directly, in the order of the calls.
//   4. The spelling of a control token in any text is text; only encodings place control tokens.
//
// Source: seed 000; recipe SPEC sections 3 and 4. Threads: plain values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace troupe::recipe {

enum class ModelVersion : unsigned char { kDeepseekV4, kDeepseekV41, kChatml };

enum class Role : unsigned char { kSystem, kUser, kAssistant, kTool, kLatestReminder };

/// SPEC 3.1: minimal is low, medium is high, ultra is max; xhigh renders as high.
enum class Effort : unsigned char { kLow, kHigh, kXhigh, kMax };

enum class ToolChoice : unsigned char { kNone, kAuto, kRequired };

enum class FormatKind : unsigned char { kText, kJsonObject, kJsonSchema, kRegex };

/// Where an image comes from; nothing is fetched or decoded here.
struct ImageSource {
  enum class Kind : unsigned char { kDataUrl, kUrl };
  Kind kind = Kind::kUrl;
  std::string value;   ///< the URL, data: included
  std::string detail;  ///< "low", "high", "auto", "original"
  std::string path;    ///< where the client put it: "messages.0.content[1]"

  friend bool operator==(const ImageSource&, const ImageSource&) = default;
};

/// Parts of a message are joined by an empty line, empty ones included.
using Part = std::variant<std::string, ImageSource>;

struct ToolCall {
  std::string id;
  std::string name;       ///< with its namespace, if any: "ns::tool"
  std::string arguments;  ///< as the client sent it; need not be JSON

  friend bool operator==(const ToolCall&, const ToolCall&) = default;
};

struct ToolDefinition {
  std::string name;
  std::optional<std::string> description;
  std::string parameters = "{}";  ///< a JSON object; normalized if strict
  std::optional<bool> strict;
  bool deferred = false;  ///< V4.1 shows it only once a message loads it

  friend bool operator==(const ToolDefinition&, const ToolDefinition&) = default;
};

struct Message {
  Role role = Role::kUser;
  std::vector<Part> parts;
  std::optional<std::string> reasoning;   ///< assistant; absent and empty differ
  std::vector<ToolCall> calls;            ///< assistant
  bool prefix = false;                    ///< assistant, last: the model goes on within this turn
  std::string call_id;                    ///< tool: the call that this answers
  std::vector<std::string> loaded_tools;  ///< system: names of deferred tools shown from here

  friend bool operator==(const Message&, const Message&) = default;
};

struct Format {
  FormatKind kind = FormatKind::kText;
  std::string schema;  ///< kJsonSchema: as the client sent it; kRegex: the pattern
};

struct Conversation {
  std::vector<Message> messages;
  std::vector<ToolDefinition> tools;  ///< none if tool_choice is none
  ToolChoice tool_choice = ToolChoice::kAuto;
  bool thinking = true;
  Effort effort = Effort::kHigh;  ///< without meaning if thinking is off
  Format format;
};

}  // namespace troupe::recipe
