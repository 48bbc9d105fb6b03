// Reads the fields of a JSON request body into plain values, and remembers the first thing wrong.
//
// Why: every vendor protocol has dozens of optional fields with ranges. With this each is one line,
// and all of them treat null, wrong types, NaN and ranges alike. The first error stays; later
// reads still work, so that a caller checks once at the end.
//
// JSON here is strict (no NaN, no comments), UTF-8 throughout, nested at most 64 deep; of repeated
// keys the last counts, as in Python and JavaScript.
//
// Threads: one owner.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/recipe/api_error.hpp"

namespace troupe {

using JsonValue = rapidjson::Value;

/// Parses a whole body. The error is a 400 that says where the JSON breaks.
std::variant<rapidjson::Document, ApiError> parse_json(std::string_view body);

std::string_view string_of(const JsonValue& value);

/// One JSON object whose fields are read by name. `path` is its name in errors: "" for the body,
/// "stream_options" for a member.
class JsonFields {
 public:
  /// `object` and `error` outlive the reader. Requires: object.IsObject().
  JsonFields(const JsonValue& object, std::string path, std::optional<ApiError>& error)
      : object_(object), path_(std::move(path)), error_(error) {}

  /// Null if the field is absent or null.
  const JsonValue* find(const char* name) const;

  std::optional<bool> boolean(const char* name) const;
  std::optional<std::string> string(const char* name) const;
  std::optional<double> real(const char* name, double min, double max) const;
  std::optional<std::int64_t> integer(const char* name, std::int64_t min, std::int64_t max) const;
  /// A member that is an object; null if absent.
  const JsonValue* object(const char* name) const;
  const JsonValue* array(const char* name) const;

  std::string path_of(const char* name) const;
  /// Keeps the error if it is the first.
  void fail(ApiError error) const;
  void fail(const char* name, std::string message) const;

 private:
  void wrong_type(const char* name, const JsonValue& value, std::string_view wanted) const;

  const JsonValue& object_;
  std::string path_;
  std::optional<ApiError>& error_;
};

}  // namespace troupe
