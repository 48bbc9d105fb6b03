// Turns the events of a JSON text into plain structs, described by a table of members each.
//
//   struct Thinking {
//     Field<std::string_view> type;
//     static constexpr auto kMembers = std::tuple{member("type", &Thinking::type)};
//   };
//
// Why: requests have a hundred fields in three protocols. A struct with its table is the whole
// description of one; reading needs no code, allocates only lists, and builds nothing for what is
// not described.
//
// Reading never fails on a wrong type: the field remembers what came instead. Which fields count
// depends on others ("type", "role") that may come later, so that shape_check.hpp looks at them
// when all is read. For the same reason the last of duplicate keys wins: it resets the field.
//
// Types of values: std::string_view, bool, Number, JsonPart, List<T>, Either<scalar, container>,
// and structs with kMembers. Ownership: texts point into the JsonBuffer. Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/recipe/text/json_tape.hpp"

namespace troupe::recipe {

enum class Presence : std::uint8_t { kAbsent, kNull, kWrong, kGiven };

template <class T>
struct Field {
  Presence presence = Presence::kAbsent;
  JsonKind got = JsonKind::kNull;  ///< what came, if anything
  T value{};

  bool given() const { return presence == Presence::kGiven; }
};

template <class T>
using List = std::vector<Field<T>>;

/// A number as it is spelled.
struct Number {
  std::string_view token;
};

/// Any value, kept on the tape.
struct JsonPart {
  JsonTape::Index index = JsonTape::kNone;
};

/// A text or else a list or an object.
template <class Scalar, class Container>
struct Either {
  bool is_container = false;
  Scalar scalar{};
  Container container{};
};

template <class Owner, class T>
struct Member {
  std::string_view name;
  Field<T> Owner::*field;
};

template <class Owner, class T>
constexpr Member<Owner, T> member(std::string_view name, Field<T> Owner::*field) {
  return {name, field};
}

struct ValueType;

/// Where a value goes. Without a type it is skipped.
struct Slot {
  const ValueType* type = nullptr;
  void* target = nullptr;
};

/// What can be done to a target of one type.
struct ValueType {
  void (*scalar)(void* field, JsonKind kind, std::string_view text);
  Slot (*open)(void* field, JsonKind kind);              // a container begins
  Slot (*child)(void* container, std::string_view key);  // where a member or element goes
  void (*capture)(void* field, JsonKind kind, JsonTape::Index index);  // or null: not kept whole
  std::size_t element_bytes;                                           // of a list, else 0
};

/// How a value of type T is taken; false: it is of the wrong type.
template <class T>
struct Taking {  // structs with kMembers
  static constexpr std::string_view kWanted = "an object";
  static constexpr std::size_t kElementBytes = 0;
  static bool scalar(T&, JsonKind, std::string_view) { return false; }
  static bool open(T&, JsonKind kind) { return kind == JsonKind::kObject; }
  static Slot child(T& object, std::string_view key);
};

template <>
struct Taking<std::string_view> {
  static constexpr std::string_view kWanted = "a string";
  static constexpr std::size_t kElementBytes = 0;
  static bool scalar(std::string_view& value, JsonKind kind, std::string_view text) {
    return value = text, kind == JsonKind::kString;
  }
  static bool open(std::string_view&, JsonKind) { return false; }
  static Slot child(std::string_view&, std::string_view) { return {}; }
};

template <>
struct Taking<bool> {
  static constexpr std::string_view kWanted = "a boolean";
  static constexpr std::size_t kElementBytes = 0;
  static bool scalar(bool& value, JsonKind kind, std::string_view) {
    value = kind == JsonKind::kTrue;
    return value || kind == JsonKind::kFalse;
  }
  static bool open(bool&, JsonKind) { return false; }
  static Slot child(bool&, std::string_view) { return {}; }
};

template <>
struct Taking<Number> {
  static constexpr std::string_view kWanted = "a number";
  static constexpr std::size_t kElementBytes = 0;
  static bool scalar(Number& value, JsonKind kind, std::string_view text) {
    return value.token = text, kind == JsonKind::kNumber;
  }
  static bool open(Number&, JsonKind) { return false; }
  static Slot child(Number&, std::string_view) { return {}; }
};

template <>
struct Taking<JsonPart> {
  static constexpr std::string_view kWanted = "a JSON value";
  static constexpr std::size_t kElementBytes = 0;
};

template <class T>
Slot slot_of(Field<T>& field);

template <class T>
struct Taking<List<T>> {
  static constexpr std::string_view kWanted = "a list";
  static constexpr std::size_t kElementBytes = sizeof(Field<T>);
  static bool scalar(List<T>&, JsonKind, std::string_view) { return false; }
  static bool open(List<T>&, JsonKind kind) { return kind == JsonKind::kArray; }
  static Slot child(List<T>& list, std::string_view) { return slot_of(list.emplace_back()); }
};

template <class Scalar, class Container>
struct Taking<Either<Scalar, Container>> {
  using Value = Either<Scalar, Container>;
  static constexpr std::string_view kWanted =
      Taking<Container>::kElementBytes > 0 ? "a string or a list" : "a string or an object";
  static constexpr std::size_t kElementBytes = Taking<Container>::kElementBytes;
  static bool scalar(Value& value, JsonKind kind, std::string_view text) {
    return Taking<Scalar>::scalar(value.scalar, kind, text);
  }
  static bool open(Value& value, JsonKind kind) {
    value.is_container = true;
    return Taking<Container>::open(value.container, kind);
  }
  static Slot child(Value& value, std::string_view key) {
    return Taking<Container>::child(value.container, key);
  }
};

namespace shape_internal {

template <class T>
void take_scalar(void* target, JsonKind kind, std::string_view text) {
  auto& field = *static_cast<Field<T>*>(target);
  field.got = kind;
  if (kind == JsonKind::kNull) {
    field.presence = Presence::kNull;
  } else {
    const bool right = Taking<T>::scalar(field.value, kind, text);
    field.presence = right ? Presence::kGiven : Presence::kWrong;
  }
}

template <class T>
Slot take_open(void* target, JsonKind kind);

template <class T>
Slot take_child(void* container, std::string_view key) {
  return Taking<T>::child(*static_cast<T*>(container), key);
}

inline void take_part(void* target, JsonKind kind, JsonTape::Index index) {
  auto& field = *static_cast<Field<JsonPart>*>(target);
  field.got = kind;
  field.presence = kind == JsonKind::kNull ? Presence::kNull : Presence::kGiven;
  field.value.index = index;
}

template <class T>
inline constexpr ValueType kType{take_scalar<T>, take_open<T>, take_child<T>, nullptr,
                                 Taking<T>::kElementBytes};
template <>
inline constexpr ValueType kType<JsonPart>{nullptr, nullptr, nullptr, take_part, 0};

template <class T>
Slot take_open(void* target, JsonKind kind) {
  auto& field = *static_cast<Field<T>*>(target);
  field.got = kind;
  const bool right = Taking<T>::open(field.value, kind);
  field.presence = right ? Presence::kGiven : Presence::kWrong;
  return right ? Slot{&kType<T>, &field.value} : Slot{};
}

}  // namespace shape_internal

template <class T>
Slot slot_of(Field<T>& field) {
  return {&shape_internal::kType<T>, &field};
}

template <class T>
Slot Taking<T>::child(T& object, std::string_view key) {
  Slot slot;
  const auto take = [&](const auto& entry) {
    if (entry.name != key) return false;
    auto& field = object.*entry.field;
    field = {};
    slot = slot_of(field);
    return true;
  };
  std::apply([&](const auto&... entries) { (take(entries) || ...); }, T::kMembers);
  return slot;
}

/// Feeds the events of one JSON text to the structs under a root.
class ShapeReader : public JsonEvents {
 public:
  /// `root` and `tape` outlive the reader. `list_bytes_max` bounds the memory of all lists.
  ShapeReader(Slot root, JsonTape& tape, std::size_t list_bytes_max)
      : pending_(root), tape_(tape), list_bytes_left_(list_bytes_max) {
    open_.reserve(16);
  }

  bool null() override { return scalar(JsonKind::kNull, {}); }
  bool boolean(bool value) override {
    return scalar(value ? JsonKind::kTrue : JsonKind::kFalse, {});
  }
  bool number(std::string_view token) override { return scalar(JsonKind::kNumber, token); }
  bool string(std::string_view text) override { return scalar(JsonKind::kString, text); }
  bool key(std::string_view text) override;
  bool begin_object() override { return begin(JsonKind::kObject); }
  bool end_object() override { return end(JsonKind::kObject); }
  bool begin_array() override { return begin(JsonKind::kArray); }
  bool end_array() override { return end(JsonKind::kArray); }

 private:
  struct Frame {
    Slot container;
    bool is_array;
  };

  bool scalar(JsonKind kind, std::string_view text);
  bool begin(JsonKind kind);
  bool end(JsonKind kind);
  bool next_slot(Slot& slot);
  bool send_scalar(JsonKind kind, std::string_view text);
  bool send_begin(JsonKind kind);

  Slot pending_;  // of the member whose key came last; at first, the root
  std::vector<Frame> open_;
  JsonTape& tape_;
  std::size_t list_bytes_left_;
};

}  // namespace troupe::recipe
