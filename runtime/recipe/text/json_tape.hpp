// A JSON value kept as one flat row of nodes, for the few parts of a request that are looked into:
// schemas, and arguments of tool calls.
//
// Why flat: a schema of fifty nodes is one allocation (none, once the row has grown), and walking
// it is reading forward. Why not text: strict schemas are rewritten, and duplicate keys must show
// the last value at the first position (recipe SPEC 4).
//
// Layout: a container is followed by its content; `end` is the index behind it.
// Invariants: 1. at most kNodesMax nodes, over all values of the tape. 2. each() never shows two
// members of one name. Ownership: texts belong to the JsonBuffer that was parsed.
// Threads: one writer, then any readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/text/json_events.hpp"
#include "runtime/recipe/text/json_number.hpp"
#include "runtime/recipe/text/json_string.hpp"

namespace troupe {

enum class JsonKind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

/// How a value is printed: its strings by append_json_string().
struct JsonStyle {
  bool spaced = false;  ///< ", " and ": " instead of "," and ":"
  JsonNumbers numbers = JsonNumbers::kShort;
};
inline constexpr JsonStyle kCompactJson{false, JsonNumbers::kShort};
inline constexpr JsonStyle kPromptJsonV4{true, JsonNumbers::kShort};
inline constexpr JsonStyle kPromptJsonV41{true, JsonNumbers::kPython};

class JsonTape : public JsonEvents {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  /// 48 MB of nodes. A longer value is refused like one that is nested too deeply.
  static constexpr std::size_t kNodesMax = 1 << 20;

  struct Node {
    std::string_view key;   ///< of a member of an object
    std::string_view text;  ///< kString: the text; kNumber: the token
    Index end = 0;
    Index newest = kNone;  ///< a later member of the same name, whose value counts
    JsonKind kind = JsonKind::kNull;
    bool hidden = false;  ///< a later member of the same name
  };

  bool null() override { return add(JsonKind::kNull, {}); }
  bool boolean(bool value) override { return add(value ? JsonKind::kTrue : JsonKind::kFalse, {}); }
  bool number(std::string_view token) override { return add(JsonKind::kNumber, token); }
  bool string(std::string_view text) override { return add(JsonKind::kString, text); }
  bool key(std::string_view text) override { return key_ = text, true; }
  bool begin_object() override { return begin(JsonKind::kObject); }
  bool end_object() override;
  bool begin_array() override { return begin(JsonKind::kArray); }
  bool end_array() override;

  /// The node that the next value will be.
  Index next() const { return static_cast<Index>(nodes_.size()); }
  /// Values that were begun and not ended.
  std::size_t depth() const { return open_.size(); }
  bool full() const { return nodes_.size() >= kNodesMax; }

  const Node& at(Index index) const { return nodes_[index]; }
  JsonKind kind(Index index) const { return nodes_[index].kind; }
  std::string_view text(Index index) const { return nodes_[index].text; }

  /// f(key, index) for each member or element, in order. Requires: a container.
  template <class F>
  void each(Index container, F f) const {
    for (Index i = container + 1; i < nodes_[container].end; i = nodes_[i].end) {
      if (!nodes_[i].hidden) f(nodes_[i].key, nodes_[i].newest == kNone ? i : nodes_[i].newest);
    }
  }
  /// The value of a member; kNone if there is none, or no object.
  Index find(Index object, std::string_view key) const;
  std::size_t count(Index container) const;

  void print(Index index, JsonStyle style, std::string& out) const;

 private:
  bool add(JsonKind kind, std::string_view text);
  bool begin(JsonKind kind);
  void hide_duplicates(Index object);

  std::vector<Node> nodes_;
  std::vector<Index> open_;
  std::vector<Index> members_;  // scratch of hide_duplicates()
  std::string_view key_;
};

/// A JSON text with its tape. Nothing if it is not valid JSON.
class JsonDocument {
 public:
  static std::optional<JsonDocument> parse(std::string_view text);

  const JsonTape& tape() const { return tape_; }
  static constexpr JsonTape::Index kRoot = 0;

 private:
  explicit JsonDocument(std::string_view text) : buffer_(text) {}

  JsonBuffer buffer_;  // a vector: moving it leaves the texts where they are
  JsonTape tape_;
};

}  // namespace troupe
