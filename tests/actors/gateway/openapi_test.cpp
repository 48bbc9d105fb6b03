// The document of /openapi.json against the code: its paths are the routes, and its bodies have
// exactly the members that the recipe reads, on every level.
#include "actors/gateway/openapi.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "actors/gateway/routes.hpp"
#include "runtime/recipe/request/chat_shape.hpp"
#include "runtime/recipe/request/completions_shape.hpp"
#include "runtime/recipe/request/messages_shape.hpp"
#include "runtime/recipe/request/responses_shape.hpp"
#include "runtime/recipe/request/token_shape.hpp"
#include "runtime/recipe/text/json_tape.hpp"

namespace troupe {
namespace {

using recipe::Either;
using recipe::Field;
using recipe::JsonPart;
using recipe::List;
using recipe::Member;
using Names = std::set<std::string>;
constexpr auto kNone = JsonTape::kNone;

const JsonDocument& document() {
  static const std::string text = openapi_document("1.2.3");
  static const auto parsed = JsonDocument::parse(text);
  return *parsed;
}

/// The value at a path of members; kNone if there is none.
JsonTape::Index at(std::initializer_list<std::string_view> path) {
  JsonTape::Index index = JsonDocument::kRoot;
  for (const auto name : path) {
    if (index == kNone) return kNone;
    index = document().tape().find(index, name);
  }
  return index;
}

/// What a parser reads: "messages[].content[].text". `opaque`: members of any value.
struct Read {
  Names names;
  Names opaque;
};

template <class T>
struct Behind;

template <class T>
struct Walk {  // structs with kMembers
  static void into(Read& read, const std::string& prefix) {
    std::apply([&](const auto&... entries) { (one(read, prefix, entries), ...); }, T::kMembers);
  }
  template <class Owner, class V>
  static void one(Read& read, const std::string& prefix, const Member<Owner, V>& entry) {
    const std::string name = prefix + std::string(entry.name);
    read.names.insert(name);
    if constexpr (std::is_same_v<V, JsonPart>) {
      read.opaque.insert(name);
    } else {
      Behind<V>::into(read, name);
    }
  }
};
/// Members of an object behind a name.
template <class T>
struct Behind {
  static void into(Read& read, const std::string& name) { Walk<T>::into(read, name + "."); }
};
template <class T>
requires(!requires { T::kMembers; }) struct Behind<T> {
  static void into(Read& read, const std::string& name) { Walk<T>::into(read, name); }
};
template <class T>
requires(!requires { T::kMembers; }) struct Walk<T> {
  static void into(Read&, const std::string&) {}
};
template <class T>
struct Walk<List<T>> {
  static void into(Read& read, const std::string& name) { Behind<T>::into(read, name + "[]"); }
};
template <class S, class C>
struct Walk<Either<S, C>> {
  static void into(Read& read, const std::string& name) { Behind<C>::into(read, name); }
};

/// What the document says, in the same words.
class Documented {
 public:
  explicit Documented(const Names& opaque) : opaque_(opaque) {}

  Names of(std::string_view schema) {
    walk(at({"components", "schemas", schema}), "");
    return names_;
  }

 private:
  void walk(JsonTape::Index schema, const std::string& name) {
    const JsonTape& tape = document().tape();
    ASSERT_NE(schema, kNone) << name;
    if (opaque_.contains(name) || tape.kind(schema) != JsonKind::kObject) return;
    if (const auto ref = tape.find(schema, "$ref"); ref != kNone) {
      constexpr std::string_view kPrefix = "#/components/schemas/";
      ASSERT_TRUE(tape.text(ref).starts_with(kPrefix)) << name;
      return walk(at({"components", "schemas", tape.text(ref).substr(kPrefix.size())}), name);
    }
    if (const auto any = tape.find(schema, "anyOf"); any != kNone) {
      tape.each(any, [&](std::string_view, JsonTape::Index one) { walk(one, name); });
    }
    if (const auto items = tape.find(schema, "items"); items != kNone) walk(items, name + "[]");
    const auto members = tape.find(schema, "properties");
    if (members == kNone) return;
    tape.each(members, [&](std::string_view key, JsonTape::Index value) {
      const std::string member = (name.empty() ? "" : name + ".") + std::string(key);
      names_.insert(member);
      walk(value, member);
    });
  }

  const Names& opaque_;
  Names names_;
};

/// `never_looked_at`: what a shape has because it is shared with another place.
template <class Body>
void expect_same(std::string_view schema, const Names& never_looked_at = {}) {
  Read read;
  Walk<Body>::into(read, "");
  const Names documented = Documented(read.opaque).of(schema);
  EXPECT_GT(read.names.size(), 1u);
  for (const auto& name : read.names) {
    EXPECT_NE(documented.contains(name), never_looked_at.contains(name))
        << schema << " lacks " << name;
  }
  for (const auto& name : documented) {
    EXPECT_TRUE(read.names.contains(name)) << schema << " has, and nobody reads, " << name;
  }
}

TEST(Openapi, BodiesHaveTheMembersThatAreRead) {
  expect_same<recipe::ChatBody>("ChatRequest");
  expect_same<recipe::CompletionsBody>("CompletionRequest");
  expect_same<recipe::ResponsesBody>("ResponsesRequest");
  expect_same<recipe::MessagesBody>(
      "MessagesRequest",
      {"messages[].content[].tool_name", "system[].source", "system[].source.type",
       "system[].source.media_type", "system[].source.data", "system[].source.url",
       "system[].source.file_id", "system[].tool_name"});
  expect_same<recipe::TokenizeBody>("TokenizeRequest");
  expect_same<recipe::DetokenizeBody>("DetokenizeRequest");
}

/// "GET, HEAD" of a path's members in the document.
Names methods_documented(JsonTape::Index item) {
  Names methods;
  document().tape().each(item, [&](std::string_view key, JsonTape::Index) {
    if (key == "parameters") return;
    std::string method(key);
    for (char& c : method) c = static_cast<char>(c - 'a' + 'A');
    methods.insert(method);
  });
  return methods;
}

Names methods_taken(const std::string& path) {
  Names methods;
  const char* taken = methods_of(path);
  std::string_view rest = taken == nullptr ? "" : taken;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(", "), rest.size());
    methods.emplace(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 2));
  }
  return methods;
}

TEST(Openapi, PathsAreTheRoutes) {
  Names documented;
  document().tape().each(at({"paths"}), [&](std::string_view path, JsonTape::Index item) {
    documented.emplace(path);
    std::string example(path);
    if (const auto brace = example.find('{'); brace != std::string::npos) {
      example.replace(brace, example.find('}') + 1 - brace, "x");
    }
    EXPECT_EQ(methods_documented(item), methods_taken(example)) << path;
  });
  for (const std::string_view path : route_templates()) {
    EXPECT_TRUE(documented.contains(std::string(path))) << path;
  }
  EXPECT_EQ(documented.size(), route_templates().size());
}

TEST(Openapi, EveryReferenceLeadsSomewhereAndTheVersionIsTheNodes) {
  const std::string text = openapi_document("1.2.3");
  constexpr std::string_view kMark = R"("$ref":"#/)";
  std::size_t count = 0;
  for (auto at_ref = text.find(kMark); at_ref != std::string::npos;
       at_ref = text.find(kMark, at_ref + 1), ++count) {
    const auto begin = at_ref + kMark.size();
    std::string_view rest = std::string_view(text).substr(begin, text.find('"', begin) - begin);
    JsonTape::Index index = JsonDocument::kRoot;
    while (!rest.empty() && index != kNone) {
      const auto slash = std::min(rest.find('/'), rest.size());
      index = document().tape().find(index, rest.substr(0, slash));
      rest.remove_prefix(std::min(rest.size(), slash + 1));
    }
    EXPECT_NE(index, kNone) << text.substr(begin, 60);
  }
  EXPECT_GT(count, 100u);
  EXPECT_EQ(document().tape().text(at({"info", "version"})), "1.2.3");
}

}  // namespace
}  // namespace troupe
