// Whether what json_shape.hpp read is what a protocol asks for: fields that must be there, types,
// names of a set. Only the fields that count are looked at, which depends on roles and types.
//
// Use: a check a field; each returns false after failing. Absent and null are the same for an
// optional field (recipe SPEC 3).
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/recipe/request/issues.hpp"
#include "runtime/recipe/request/json_shape.hpp"

namespace troupe::recipe {

/// "a string", "null": what a message says that it got.
std::string_view kind_name(JsonKind kind);

/// The value of a whole number up to `max`. Compat mode takes integers only, the default mode also
/// 16.0.
std::optional<std::uint64_t> whole_number(Number number, std::uint64_t max, Compat compat);

class ShapeCheck {
 public:
  explicit ShapeCheck(Issues& issues) : issues_(issues) {}

  bool compat() const { return issues_.compat(); }

  template <class T>
  bool required(const Field<T>& field, std::string_view name) {
    if (field.given()) return true;
    if (field.presence == Presence::kAbsent) return missing(name);
    return wrong_type(name, field.got, Taking<T>::kWanted);
  }
  /// True unless it is there and of the wrong type.
  template <class T>
  bool optional(const Field<T>& field, std::string_view name) {
    return field.presence != Presence::kWrong || wrong_type(name, field.got, Taking<T>::kWanted);
  }
  /// An optional whole number, 0 to `max`.
  bool whole(const Field<Number>& field, std::string_view name, std::uint64_t max);
  bool one_of(std::string_view value, std::string_view name,
              std::initializer_list<std::string_view> names);
  /// An optional text of a set.
  bool optional_one_of(const Field<std::string_view>& field, std::string_view name,
                       std::initializer_list<std::string_view> names) {
    return optional(field, name) && (!field.given() || one_of(field.value, name, names));
  }
  bool required_one_of(const Field<std::string_view>& field, std::string_view name,
                       std::initializer_list<std::string_view> names) {
    return required(field, name) && one_of(field.value, name, names);
  }

  /// check() with `name` as part of the path.
  template <class F>
  bool within(std::string_view name, F check) {
    path_.push_back({name, kNoIndex});
    const bool right = check();
    path_.pop_back();
    return right;
  }
  /// check(value) for each element, none of which may be null or of the wrong type.
  template <class T, class F>
  bool each(const List<T>& list, std::string_view name, F check) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      path_.push_back({name, i});
      const bool right =
          list[i].given() ? check(list[i].value) : wrong_type({}, list[i].got, Taking<T>::kWanted);
      path_.pop_back();
      if (!right) return false;
    }
    return true;
  }

  bool missing(std::string_view name);
  bool wrong_type(std::string_view name, JsonKind got, std::string_view wanted);
  bool fail(std::string_view name, std::string_view what);  ///< "'path.name' " + what

 private:
  static constexpr std::size_t kNoIndex = ~std::size_t{0};
  struct Step {
    std::string_view name;
    std::size_t index;
  };

  std::string path_of(std::string_view name) const;

  Issues& issues_;
  std::vector<Step> path_;
};

}  // namespace troupe::recipe
