// Tools of all three protocols: what may be declared and chosen, and the constraint on the output
// that follows (recipe SPEC 3.3).
//
// Order of checks, as the reference's: names when the request is read (check_tool_name), the rest
// when the messages are in order (ToolSet::finish), tool by tool.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/recipe/conversation/conversation_request.hpp"
#include "runtime/recipe/request/issues.hpp"
#include "runtime/recipe/request/json_shape.hpp"

namespace troupe::recipe {

/// A tool as a client declares it, in whichever protocol.
struct DeclaredTool {
  std::string name;
  std::optional<std::string> description;
  JsonTape::Index parameters = JsonTape::kNone;  ///< kNone: not given
  bool parameters_required = false;
  std::optional<bool> strict;
  bool deferred = false;
  const ToolDefinition* ready = nullptr;  ///< a tool of ours, which stands for all of the above
};

enum class ChoiceKind : unsigned char { kNone, kAuto, kRequired, kNamed };

struct DeclaredChoice {
  ChoiceKind kind = ChoiceKind::kAuto;
  std::string name;  ///< kNamed

  bool must_call() const { return kind == ChoiceKind::kRequired || kind == ChoiceKind::kNamed; }
};

/// False after failing: a name is [a-zA-Z0-9_-]+. `path`: "tools[0].function.name".
bool check_tool_name(std::string_view name, const std::string& path, Issues& issues);

class ToolSet {
 public:
  ToolSet(const JsonTape& tape, Issues& issues) : tape_(tape), issues_(issues) {}

  void add(DeclaredTool tool);
  bool empty() const { return tools_.empty(); }
  bool has(const std::string& name) const { return names_.contains(name); }
  const std::vector<DeclaredTool>& tools() const { return tools_; }

  /// Checks the tools and the choice; fills `conversation.tools`, `.tool_choice`. False after
  /// failing.
  bool finish(const DeclaredChoice& choice, bool thinking, Conversation& conversation);

 private:
  bool define(const DeclaredTool& tool, ToolDefinition& definition);
  bool choose(const DeclaredChoice& choice, bool thinking, Conversation& conversation);

  const JsonTape& tape_;
  Issues& issues_;
  std::vector<DeclaredTool> tools_;
  std::unordered_set<std::string> names_;  // a request may ask thousands of times
};

/// "tool_call" or "tool_call_required" with the tools as a compact JSON list.
/// Requires: there are tools.
OutputConstraint tool_constraint(const Conversation& conversation);

}  // namespace troupe::recipe
