// Tools of Responses: functions, namespaces of functions, the custom tool apply_patch, and the
// searching for tools (recipe SPEC 3.3).
//
// A model knows no namespaces: a function in one gets a flat name, "ns::tool" for V4.1 and
// "ns__tool" for V4, with _1, _2, ... if another tool has it. Answers and later calls are mapped
// by the same table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/recipe/request/conversion.hpp"
#include "runtime/recipe/request/responses_shape.hpp"
#include "runtime/recipe/request/tools.hpp"

namespace troupe::recipe {

class ResponsesTools {
 public:
  explicit ResponsesTools(Conversion& conversion)
      : conversion_(conversion), set_(conversion.tape, conversion.issues) {}

  /// The declared tools. False after failing.
  bool read(const List<ResponsesTool>& tools);
  /// Tools that a search found; `path`: "input[3].tools". Their names are appended to `names`.
  bool load(const List<ResponsesTool>& tools, const std::string& path,
            std::vector<std::string>& names);
  /// The flat name of a call in the history.
  std::string flat_name(std::string_view space, std::string_view name) const;

  ToolSet& set() { return set_; }

 private:
  struct Origin {
    std::string path;
    bool deferred;
  };

  bool add(const ResponsesTool& tool, const Origin& origin);
  bool add_namespace(const ResponsesTool& tool, const Origin& origin);
  bool add_custom(std::string_view name, const Origin& origin);
  void add_search(const ResponsesTool& tool, const Origin& origin);
  void reserve_names(const List<ResponsesTool>& tools);
  std::string new_flat_name(std::string_view space, std::string_view name);
  std::string_view separator() const { return conversion_.is_v4() ? "__" : "::"; }

  Conversion& conversion_;
  ToolSet set_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> suffixes_;            // the last one given to a name
  std::map<std::pair<std::string, std::string>, std::string> flat_;  // (namespace, name) → flat
};

/// A tool as the reference writes it back: in the echo, and as the result of a search.
void append_tool_json(const ResponsesTool& tool, const JsonTape& tape, std::string& out);
/// The members of a function; `extra` is appended before the brace.
void append_function_json(const ResponsesInnerTool& tool, const JsonTape& tape,
                          std::string_view extra, std::string& out);
void append_text_or_null(const Field<std::string_view>& field, std::string& out);
void append_part_or_null(const Field<JsonPart>& field, const JsonTape& tape, std::string& out);
/// True for the types of tools that the reference knows.
bool is_known_tool(std::string_view type);

}  // namespace troupe::recipe
