// One body of JSON, read into a shape and checked: what all requests begin with.
//
// Bounds: as request.hpp says. Threads: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "runtime/recipe/request/issues.hpp"
#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {

RequestError bad_json(const Error& error, Compat compat);

/// use(body, tape, issues) gets a body that has its shape (`check_shape` of Body) and returns false
/// after failing. What was wrong, if anything was; texts of the body live as long as the call.
template <class Body, class Use>
std::optional<RequestError> read_body(std::string_view text, Compat compat, Use use) {
  // Bounds of a hostile body's lists: `[{},{},...]` takes three bytes an element.
  constexpr std::size_t kListBytesFree = std::size_t{16} << 20;
  constexpr std::size_t kListBytesPerByte = 20;
  JsonBuffer buffer(text);
  JsonTape tape;
  Field<Body> body;
  ShapeReader reader(slot_of(body), tape, kListBytesFree + kListBytesPerByte * text.size());
  if (const Status read = parse_json_events(buffer, reader); !read.ok()) {
    return bad_json(read.error(), compat);
  }
  Issues issues(compat);
  ShapeCheck check(issues);
  if (!body.given()) {
    issues.shape("the body must be an object", "");
    return issues.take();
  }
  if (!check_shape(body.value, check) || !use(body.value, tape, issues)) return issues.take();
  return std::nullopt;
}

}  // namespace troupe::recipe
