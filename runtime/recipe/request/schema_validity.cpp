#include "runtime/recipe/request/schema_validity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace troupe::recipe {
namespace {

using Index = JsonTape::Index;

/// What the value of a keyword must be.
enum class Want : unsigned char {
  kSchema,
  kSchemaOrList,  ///< items: a list in drafts before 2020-12
  kSchemaMap,
  kSchemaList,
  kTypes,
  kString,
  kBoolean,
  kNumber,
  kPositive,
  kCount,
  kArray,
  kObject,
  kStrings,
  kStringsMap,
  kSchemaOrStringsMap,
};

/// In the order in which they are checked. kOlder: keywords of drafts before 2020-12.
enum class Vocabulary : unsigned char { kCore, kApplicator, kValidation, kNotes, kOlder };
constexpr unsigned kVocabularies = 5;

struct Keyword {
  std::string_view name;
  Vocabulary vocabulary;
  Want want;
};

constexpr auto kCore = Vocabulary::kCore;
constexpr auto kApplicator = Vocabulary::kApplicator;
constexpr auto kValidation = Vocabulary::kValidation;
constexpr auto kNotes = Vocabulary::kNotes;
constexpr auto kOlder = Vocabulary::kOlder;

/// In order of their names.
constexpr std::array kKeywords{
    Keyword{"$anchor", kCore, Want::kString},
    Keyword{"$comment", kCore, Want::kString},
    Keyword{"$defs", kCore, Want::kSchemaMap},
    Keyword{"$dynamicAnchor", kCore, Want::kString},
    Keyword{"$dynamicRef", kCore, Want::kString},
    Keyword{"$id", kCore, Want::kString},
    Keyword{"$ref", kCore, Want::kString},
    Keyword{"$schema", kCore, Want::kString},
    Keyword{"$vocabulary", kCore, Want::kObject},
    Keyword{"additionalProperties", kApplicator, Want::kSchema},
    Keyword{"allOf", kApplicator, Want::kSchemaList},
    Keyword{"anyOf", kApplicator, Want::kSchemaList},
    Keyword{"contains", kApplicator, Want::kSchema},
    Keyword{"contentEncoding", kNotes, Want::kString},
    Keyword{"contentMediaType", kNotes, Want::kString},
    Keyword{"contentSchema", kNotes, Want::kSchema},
    Keyword{"definitions", kOlder, Want::kSchemaMap},
    Keyword{"dependencies", kOlder, Want::kSchemaOrStringsMap},
    Keyword{"dependentRequired", kValidation, Want::kStringsMap},
    Keyword{"dependentSchemas", kApplicator, Want::kSchemaMap},
    Keyword{"deprecated", kNotes, Want::kBoolean},
    Keyword{"description", kNotes, Want::kString},
    Keyword{"else", kApplicator, Want::kSchema},
    Keyword{"enum", kValidation, Want::kArray},
    Keyword{"examples", kNotes, Want::kArray},
    Keyword{"exclusiveMaximum", kValidation, Want::kNumber},
    Keyword{"exclusiveMinimum", kValidation, Want::kNumber},
    Keyword{"format", kNotes, Want::kString},
    Keyword{"if", kApplicator, Want::kSchema},
    Keyword{"items", kApplicator, Want::kSchemaOrList},
    Keyword{"maxContains", kValidation, Want::kCount},
    Keyword{"maxItems", kValidation, Want::kCount},
    Keyword{"maxLength", kValidation, Want::kCount},
    Keyword{"maxProperties", kValidation, Want::kCount},
    Keyword{"maximum", kValidation, Want::kNumber},
    Keyword{"minContains", kValidation, Want::kCount},
    Keyword{"minItems", kValidation, Want::kCount},
    Keyword{"minLength", kValidation, Want::kCount},
    Keyword{"minProperties", kValidation, Want::kCount},
    Keyword{"minimum", kValidation, Want::kNumber},
    Keyword{"multipleOf", kValidation, Want::kPositive},
    Keyword{"not", kApplicator, Want::kSchema},
    Keyword{"oneOf", kApplicator, Want::kSchemaList},
    Keyword{"pattern", kValidation, Want::kString},
    Keyword{"patternProperties", kApplicator, Want::kSchemaMap},
    Keyword{"prefixItems", kApplicator, Want::kSchemaList},
    Keyword{"properties", kApplicator, Want::kSchemaMap},
    Keyword{"propertyNames", kApplicator, Want::kSchema},
    Keyword{"readOnly", kNotes, Want::kBoolean},
    Keyword{"required", kValidation, Want::kStrings},
    Keyword{"then", kApplicator, Want::kSchema},
    Keyword{"title", kNotes, Want::kString},
    Keyword{"type", kValidation, Want::kTypes},
    Keyword{"unevaluatedItems", kApplicator, Want::kSchema},
    Keyword{"unevaluatedProperties", kApplicator, Want::kSchema},
    Keyword{"uniqueItems", kValidation, Want::kBoolean},
    Keyword{"writeOnly", kNotes, Want::kBoolean},
};

constexpr bool by_name(const Keyword& a, const Keyword& b) {
  return a.name < b.name;
}
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end(), by_name));

const Keyword* keyword_named(std::string_view name) {
  const auto found = std::lower_bound(
      kKeywords.begin(), kKeywords.end(), name,
      [](const Keyword& keyword, std::string_view wanted) { return keyword.name < wanted; });
  return found != kKeywords.end() && found->name == name ? &*found : nullptr;
}

constexpr std::array<std::string_view, 7> kTypeNames{"array",  "boolean", "integer", "null",
                                                     "number", "object",  "string"};

class Validity {
  struct Found {
    const Keyword* keyword;
    Index value;
  };
  struct Members {
    std::unordered_map<std::string_view, Index> names;  // of an object
    std::vector<Index> elements;                        // of an array
  };

 public:
  Validity(const JsonTape& tape, Index root) : tape_(tape), root_(root) {
    const Index draft = tape.find(root, "$schema");
    if (draft == JsonTape::kNone || tape.kind(draft) != JsonKind::kString) return;
    draft_ = tape.text(draft);
    lists_of_items_ = draft_.find("2020-12") == std::string_view::npos;
  }

  std::optional<std::string> run() {
    if (check_schema(root_) && check_draft() && has_refs_) check_refs(root_);
    return error_;
  }

 private:
  bool fail(Index value, std::string_view what) {
    std::string shown;
    tape_.print(value, kCompactJson, shown);
    shown += what;
    error_ = std::move(shown);
    return false;
  }

  bool is_container(Index value) const {
    return tape_.kind(value) == JsonKind::kArray || tape_.kind(value) == JsonKind::kObject;
  }

  /// f for each member or element until one returns false.
  template <class F>
  bool all(Index container, F f) const {
    bool right = true;
    tape_.each(container, [&](std::string_view key, Index value) {
      if (right) right = f(key, value);
    });
    return right;
  }

  bool check_schema(Index schema) {
    const JsonKind kind = tape_.kind(schema);
    if (kind == JsonKind::kTrue || kind == JsonKind::kFalse) return true;
    if (kind != JsonKind::kObject) return fail(schema, R"( is not of types "boolean", "object")");
    const std::size_t first = found_.size();
    tape_.each(schema, [&](std::string_view key, Index value) {
      const Keyword* keyword = keyword_named(key);
      if (keyword != nullptr) found_.push_back({keyword, value});
      has_refs_ = has_refs_ || key == "$ref";
    });
    const std::size_t last = found_.size();
    bool right = true;
    for (unsigned v = 0; v < kVocabularies; ++v) {
      for (std::size_t i = first; i < last && right; ++i) {
        const Found found = found_[i];
        const bool due = found.keyword->vocabulary == static_cast<Vocabulary>(v);
        right = !due || check(found.value, found.keyword->want);
      }
    }
    found_.resize(first);
    return right;
  }

  bool check(Index value, Want want) {
    switch (want) {
      case Want::kSchema:
        return check_schema(value);
      case Want::kSchemaOrList:
        return lists_of_items_ && tape_.kind(value) == JsonKind::kArray ? check_list(value)
                                                                        : check_schema(value);
      case Want::kSchemaMap:
        return of_kind(value, JsonKind::kObject, "object") &&
               all(value, [&](std::string_view, Index each) { return check_schema(each); });
      case Want::kSchemaList:
        return check_list(value);
      case Want::kTypes:
        return check_types(value);
      case Want::kString:
        return of_kind(value, JsonKind::kString, "string");
      case Want::kBoolean:
        return tape_.kind(value) == JsonKind::kTrue || of_kind(value, JsonKind::kFalse, "boolean");
      case Want::kNumber:
        return of_kind(value, JsonKind::kNumber, "number");
      case Want::kPositive:
        if (!of_kind(value, JsonKind::kNumber, "number")) return false;
        return json_number_value(tape_.text(value)) > 0 ||
               fail(value, " is less than or equal to the minimum of 0");
      case Want::kCount:
        return check_count(value);
      case Want::kArray:
        return of_kind(value, JsonKind::kArray, "array");
      case Want::kObject:
        return of_kind(value, JsonKind::kObject, "object");
      case Want::kStrings:
        return check_strings(value);
      case Want::kStringsMap:
        return of_kind(value, JsonKind::kObject, "object") &&
               all(value, [&](std::string_view, Index each) { return check_strings(each); });
      case Want::kSchemaOrStringsMap:
        return of_kind(value, JsonKind::kObject, "object") && check_dependencies(value);
    }
    return true;
  }

  bool of_kind(Index value, JsonKind kind, std::string_view name) {
    if (tape_.kind(value) == kind) return true;
    return fail(value, " is not of type \"" + std::string(name) + "\"");
  }

  bool check_list(Index value) {
    if (!of_kind(value, JsonKind::kArray, "array")) return false;
    if (tape_.count(value) == 0) return fail(value, " has less than 1 item");
    return all(value, [&](std::string_view, Index each) { return check_schema(each); });
  }

  bool check_count(Index value) {
    if (tape_.kind(value) != JsonKind::kNumber) return of_kind(value, JsonKind::kNumber, "integer");
    const double number = json_number_value(tape_.text(value));
    if (std::floor(number) != number) return fail(value, " is not of type \"integer\"");
    return number >= 0 || fail(value, " is less than the minimum of 0");
  }

  bool check_strings(Index value) {
    if (!of_kind(value, JsonKind::kArray, "array")) return false;
    std::vector<std::string_view> texts;
    if (!all(value, [&](std::string_view, Index each) {
          texts.push_back(tape_.text(each));
          return of_kind(each, JsonKind::kString, "string");
        })) {
      return false;
    }
    return all_differ(texts) || fail(value, " has non-unique elements");
  }

  bool check_types(Index value) {
    constexpr std::string_view kWrong =
        " is not valid under any of the schemas listed in the 'anyOf' keyword";
    const auto is_type = [&](Index each) {
      return tape_.kind(each) == JsonKind::kString &&
             std::find(kTypeNames.begin(), kTypeNames.end(), tape_.text(each)) != kTypeNames.end();
    };
    if (is_type(value)) return true;
    if (tape_.kind(value) != JsonKind::kArray) return fail(value, kWrong);
    std::vector<std::string_view> names;
    const bool right = all(value, [&](std::string_view, Index each) {
      names.push_back(tape_.text(each));
      return is_type(each);
    });
    return (right && !names.empty() && all_differ(names)) || fail(value, kWrong);
  }

  bool check_dependencies(Index value) {
    return all(value, [&](std::string_view, Index each) {
      const JsonKind kind = tape_.kind(each);
      if (kind == JsonKind::kArray) return check_strings(each);
      if (kind == JsonKind::kObject || kind == JsonKind::kTrue || kind == JsonKind::kFalse) {
        return check_schema(each);
      }
      return fail(each, " is not valid under any of the schemas listed in the 'anyOf' keyword");
    });
  }

  static bool all_differ(std::vector<std::string_view>& texts) {
    std::sort(texts.begin(), texts.end());
    return std::adjacent_find(texts.begin(), texts.end()) == texts.end();
  }

  bool check_draft() {
    if (draft_.empty() || draft_.find("json-schema.org/") != std::string_view::npos) return true;
    error_ = "Unknown meta-schema: '" + std::string(draft_) +
             "'. Custom meta-schemas must be registered in the registry before use";
    return false;
  }

  bool check_refs(Index value) {
    if (!is_container(value)) return true;
    const Index ref = tape_.find(value, "$ref");
    if (ref != JsonTape::kNone && tape_.kind(ref) == JsonKind::kString &&
        !check_ref(tape_.text(ref))) {
      return false;
    }
    return all(value, [&](std::string_view, Index each) { return check_refs(each); });
  }

  bool check_ref(std::string_view ref) {
    if (!ref.starts_with("#/")) return true;
    Index at = root_;
    std::string_view rest = ref.substr(1);
    while (!rest.empty() && at != JsonTape::kNone) {
      const std::size_t end = std::min(rest.find('/', 1), rest.size());
      at = step(at, decoded(rest.substr(1, end - 1)));
      rest.remove_prefix(end);
    }
    if (at != JsonTape::kNone) return true;
    error_ = "Pointer '" + std::string(ref.substr(1)) + "' does not exist";
    return false;
  }

  Index step(Index from, const std::string& name) {
    if (!is_container(from)) return JsonTape::kNone;
    const Members& members = members_of(from);
    if (tape_.kind(from) == JsonKind::kObject) {
      const auto named = members.names.find(name);
      return named == members.names.end() ? JsonTape::kNone : named->second;
    }
    std::size_t at = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), at);
    if (error != std::errc() || end != name.data() + name.size()) return JsonTape::kNone;
    return at < members.elements.size() ? members.elements[at] : JsonTape::kNone;
  }

  /// Looked up again and again by schemas with thousands of references.
  const Members& members_of(Index container) {
    const auto [at, fresh] = members_.try_emplace(container);
    Members& members = at->second;
    if (!fresh) return members;
    tape_.each(container, [&](std::string_view key, Index each) {
      if (tape_.kind(container) == JsonKind::kObject) {
        members.names.emplace(key, each);
      } else {
        members.elements.push_back(each);
      }
    });
    return members;
  }

  /// A step of a JSON pointer in a URL fragment: %24 is '$', ~1 is '/', ~0 is '~'.
  static std::string decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      unsigned char byte = 0;
      const auto* digits = text.data() + i + 1;
      if (text[i] == '%' && i + 2 < text.size() &&
          std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
        plain += static_cast<char>(byte);
        i += 2;
      } else if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] | 1) == '1') {
        plain += text[++i] == '1' ? '/' : '~';
      } else {
        plain += text[i];
      }
    }
    return plain;
  }

  const JsonTape& tape_;
  const Index root_;
  std::string_view draft_;
  bool lists_of_items_ = false;
  bool has_refs_ = false;
  std::unordered_map<Index, Members> members_;  // of containers that references go through
  std::vector<Found> found_;  // keywords of the schemas that are being checked, outer ones first
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> invalid_schema(const JsonTape& tape, JsonTape::Index index) {
  return Validity(tape, index).run();
}

}  // namespace troupe::recipe
