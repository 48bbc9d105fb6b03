#include "runtime/recipe/request/strict_schema.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace troupe::recipe {
namespace {

using Index = JsonTape::Index;
constexpr Index kNone = JsonTape::kNone;

constexpr std::array<std::string_view, 7> kTypes{"object",  "string", "number", "integer",
                                                 "boolean", "array",  "null"};
constexpr std::array<std::string_view, 5> kSimpleTypes{"string", "number", "integer", "boolean",
                                                       "null"};
constexpr std::array<std::string_view, 5> kFormats{"email", "hostname", "ipv4", "ipv6", "uuid"};
/// Of numbers and integers, in the order in which they are printed.
constexpr std::array<std::string_view, 7> kNumberMembers{
    "const", "default", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"};

/// What serde calls a value of the wrong type.
std::string shown(const JsonTape& tape, Index value) {
  std::string text;
  switch (tape.kind(value)) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kArray:
      return "sequence";
    case JsonKind::kObject:
      return "map";
    case JsonKind::kString:
      tape.print(value, kCompactJson, text);
      return "string " + text;
    default:
      break;
  }
  tape.print(value, kCompactJson, text);
  const bool boolean = tape.kind(value) != JsonKind::kNumber;
  const bool whole = json_unsigned(tape.text(value)) || json_signed(tape.text(value));
  return (boolean ? "boolean `" : whole ? "integer `" : "floating point `") + text + "`";
}

template <class Names>
std::string one_of(const Names& names) {
  std::string list;
  for (const std::string_view name : names) {
    list.append(list.empty() ? "`" : ", `").append(name).append("`");
  }
  return list;
}

template <class Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// First whether the schema has the form above, then whether it keeps the rules; then it is
/// printed. Each step looks at the whole tree before the next one does.
class StrictSchema {
 public:
  explicit StrictSchema(const JsonTape& tape) : tape_(tape) {}

  std::string& error() { return error_; }

  bool has_form(Index node) {
    const Index type = tape_.find(node, "type");
    if (type != kNone) {
      return tape_.kind(type) == JsonKind::kArray ? type_list(type) : typed(node, type);
    }
    if (const Index any = tape_.find(node, "anyOf"); any != kNone) {
      if (any_of(any)) return true;
      error_.insert(0, "field `anyOf`: ");
      return false;
    }
    if (const Index ref = tape_.find(node, "$ref"); ref != kNone) {
      return tape_.kind(ref) == JsonKind::kString ||
             fail("field `$ref`: " + unexpected(ref, "a string"));
    }
    return fail("one of `type`, `anyOf`, `$ref` field is required");
  }

  bool keeps_rules(Index node, bool may_be_empty) {
    if (const Index any = any_of_member(node); any != kNone) {
      return all(any, [&](std::string_view, Index each) { return keeps_rules(each, false); });
    }
    if (is(node, "array")) return keeps_rules(tape_.find(node, "items"), false);
    return !is(node, "object") || object_keeps_rules(node, may_be_empty);
  }

  bool is(Index node, std::string_view name) const {
    const Index type = tape_.find(node, "type");
    return type != kNone && tape_.kind(type) == JsonKind::kString && tape_.text(type) == name;
  }

  void print(Index node, std::string& out) const {
    out += '{';
    if (const Index any = any_of_member(node); any != kNone) {
      out += "\"anyOf\":[";
      bool first = true;
      tape_.each(any, [&](std::string_view, Index each) {
        if (!std::exchange(first, false)) out += ',';
        print(each, out);
      });
      out += ']';
      print_member(node, "description", out);
    } else if (tape_.find(node, "type") == kNone) {
      print_member(node, "$ref", out);
    } else {
      print_member(node, "type", out);
      print_typed(node, out);
    }
    out += '}';
  }

 private:
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }
  std::string unexpected(Index value, std::string_view wanted) const {
    const bool range = wanted == "i64" && json_unsigned(tape_.text(value)).has_value();
    return (range ? "invalid value: " : "invalid type: ") + shown(tape_, value) + ", expected " +
           std::string(wanted);
  }
  template <class F>
  bool all(Index container, F f) const {
    bool right = true;
    tape_.each(container, [&](std::string_view key, Index value) {
      if (right) right = f(key, value);
    });
    return right;
  }
  /// A member that is there and not null.
  Index member(Index node, std::string_view name) const {
    const Index value = tape_.find(node, name);
    return value != kNone && tape_.kind(value) == JsonKind::kNull ? kNone : value;
  }
  Index any_of_member(Index node) const {
    return tape_.find(node, "type") == kNone ? tape_.find(node, "anyOf") : kNone;
  }
  bool type_list(Index list) {
    return all(list, [&](std::string_view, Index each) {
      if (tape_.kind(each) != JsonKind::kString) {
        return fail("field `type`: " + unexpected(each, "string or map"));
      }
      if (holds(kSimpleTypes, tape_.text(each))) return true;
      return fail("field `type`: unknown variant `" + std::string(tape_.text(each)) +
                  "`, expected one of " + one_of(kSimpleTypes));
    });
  }

  bool any_of(Index any) {
    if (tape_.kind(any) != JsonKind::kArray) return fail(unexpected(any, "a sequence"));
    return all(any, [&](std::string_view, Index each) {
      if (tape_.kind(each) != JsonKind::kObject) {
        return fail(unexpected(each, "internally tagged enum JsonSchemaType"));
      }
      const Index type = tape_.find(each, "type");
      return type == kNone ? fail("missing field `type`") : typed(each, type);
    });
  }

  bool typed(Index node, Index type) {
    if (tape_.kind(type) != JsonKind::kString) {
      return fail(unexpected(type, "variant identifier"));
    }
    const std::string_view name = tape_.text(type);
    if (!holds(kTypes, name)) {
      return fail("unknown variant `" + std::string(name) + "`, expected one of " + one_of(kTypes));
    }
    const Kind kind{name == "object", name == "array", name == "string",
                    name == "number" || name == "integer", name == "integer"};
    if (!all(node, [&](std::string_view key, Index value) {
          return tape_.kind(value) == JsonKind::kNull || member_has_form(kind, key, value);
        })) {
      return false;
    }
    return !kind.array || tape_.find(node, "items") != kNone || fail("missing field `items`");
  }

  struct Kind {
    bool object;
    bool array;
    bool string;
    bool number;
    bool integer;
  };

  /// Members in the order of the document, as the reference reads them.
  bool member_has_form(const Kind& kind, std::string_view key, Index value) {
    if (key == "description") return of_kind(value, JsonKind::kString, "a string");
    if (kind.object) return object_member_has_form(key, value);
    if (kind.array) return key != "items" || has_form(value);
    if (kind.string) return string_member_has_form(key, value);
    return !kind.number || !holds(kNumberMembers, key) || number_has_form(value, kind.integer);
  }

  bool of_kind(Index value, JsonKind kind, std::string_view wanted) {
    return tape_.kind(value) == kind || fail(unexpected(value, wanted));
  }

  bool object_member_has_form(std::string_view key, Index value) {
    if (key == "additionalProperties") {
      return tape_.kind(value) == JsonKind::kTrue || of_kind(value, JsonKind::kFalse, "a boolean");
    }
    if (key == "required") return strings_have_form(value);
    if (key != "properties") return true;
    return of_kind(value, JsonKind::kObject, "a map") &&
           all(value, [&](std::string_view, Index each) { return has_form(each); });
  }

  bool strings_have_form(Index list) {
    return of_kind(list, JsonKind::kArray, "a sequence") &&
           all(list, [&](std::string_view, Index each) {
             return of_kind(each, JsonKind::kString, "a string");
           });
  }

  bool string_member_has_form(std::string_view key, Index value) {
    if (key == "enum") return strings_have_form(value);
    if (key == "pattern") return of_kind(value, JsonKind::kString, "a string");
    if (key != "format") return true;
    return of_kind(value, JsonKind::kString, "a string") &&
           (holds(kFormats, tape_.text(value)) ||
            fail("unknown variant `" + std::string(tape_.text(value)) + "`, expected one of " +
                 one_of(kFormats)));
  }

  bool number_has_form(Index value, bool integer) {
    const bool number = tape_.kind(value) == JsonKind::kNumber;
    if (number && (!integer || json_signed(tape_.text(value)))) return true;
    return fail(unexpected(value, integer ? "i64" : "a JSON number"));
  }

  bool object_keeps_rules(Index node, bool may_be_empty) {
    const Index properties = member(node, "properties");
    std::vector<std::string_view> names;
    if (properties != kNone) {
      tape_.each(properties, [&](std::string_view key, Index) { names.push_back(key); });
    }
    if (names.empty() && !may_be_empty) {
      return fail("An object with no properties is not allowed.");
    }
    if (properties != kNone &&
        !all(properties, [&](std::string_view, Index each) { return keeps_rules(each, false); })) {
      return false;
    }
    if (!required_match(member(node, "required"), std::move(names))) return false;
    const Index more = member(node, "additionalProperties");
    return more == kNone || tape_.kind(more) != JsonKind::kTrue ||
           fail("additionalProperties should not be true");
  }

  bool required_match(Index required, std::vector<std::string_view> names) {
    if (required == kNone) return true;
    std::sort(names.begin(), names.end());
    std::vector<bool> seen(names.size(), false);
    std::size_t count = 0;
    if (!all(required, [&](std::string_view, Index each) {
          const std::string_view name = tape_.text(each);
          const auto at = std::lower_bound(names.begin(), names.end(), name);
          if (at == names.end() || *at != name) {
            return fail("Required property '" + std::string(name) + "' not found in object");
          }
          const auto i = static_cast<std::size_t>(at - names.begin());
          if (seen[i]) return fail("Duplicate required property '" + std::string(name) + "'");
          seen[i] = true;
          ++count;
          return true;
        })) {
      return false;
    }
    return count == names.size() ||
           fail("Required properties must match all properties in the object");
  }

  void print_member(Index node, std::string_view name, std::string& out) const {
    const Index value = member(node, name);
    if (value == kNone) return;
    if (out.back() != '{') out += ',';
    append_json_string(out, name);
    out += ':';
    tape_.print(value, kCompactJson, out);
  }

  void print_typed(Index node, std::string& out) const {
    if (is(node, "object")) return print_object(node, out);
    if (is(node, "array")) {
      out += ",\"items\":";
      print(tape_.find(node, "items"), out);
    }
    print_member(node, "description", out);
    if (is(node, "string")) {
      for (const std::string_view name : {"pattern", "format", "enum"}) {
        print_member(node, name, out);
      }
    } else if (is(node, "number") || is(node, "integer")) {
      for (const std::string_view name : kNumberMembers) print_member(node, name, out);
    }
  }

  void print_object(Index node, std::string& out) const {
    std::string required;
    out += ",\"properties\":{";
    if (const Index properties = member(node, "properties"); properties != kNone) {
      tape_.each(properties, [&](std::string_view key, Index value) {
        if (!required.empty()) out += ',', required += ',';
        append_json_string(required, key);
        append_json_string(out, key);
        out += ':';
        print(value, out);
      });
    }
    out += "},\"additionalProperties\":false,\"required\":[" + required + "]";
    print_member(node, "description", out);
  }

  const JsonTape& tape_;
  std::string error_;
};

}  // namespace

std::optional<std::string> print_strict_schema(const JsonTape& tape, Index root, SchemaUse use,
                                               std::string& out) {
  const bool tool = use == SchemaUse::kTool;
  if (tool && (root == kNone || tape.kind(root) == JsonKind::kNull)) {
    out += R"({"type":"object","properties":{},"additionalProperties":false,"required":[]})";
    return std::nullopt;
  }
  StrictSchema schema(tape);
  if (!schema.has_form(root)) {
    return (tool ? "Invalid tool parameters schema : " : "Invalid json schema: ") + schema.error();
  }
  if (!schema.is(root, "object")) {
    return "The top level of the " + std::string(tool ? "function parameters" : "json") +
           " schema must be an object.";
  }
  if (!schema.keeps_rules(root, tool)) return schema.error();
  schema.print(root, out);
  return std::nullopt;
}

}  // namespace troupe::recipe
