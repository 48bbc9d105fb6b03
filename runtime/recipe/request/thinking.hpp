// Whether the model thinks before it answers, and how hard: Chat and Messages say it with
// `thinking` and an effort, Responses with an effort alone (recipe SPEC 3.1).
#pragma once

#include <optional>
#include <string_view>
#include <tuple>

#include "runtime/recipe/request/json_shape.hpp"
#include "runtime/recipe/request/shape_check.hpp"

namespace troupe::recipe {

struct ThinkingBody {
  Field<std::string_view> type;
  Field<Number> budget_tokens;
  static constexpr auto kMembers = std::tuple{
      member("type", &ThinkingBody::type), member("budget_tokens", &ThinkingBody::budget_tokens)};
};

bool check_thinking(const Field<ThinkingBody>& thinking, ShapeCheck& check);
bool check_effort(const Field<std::string_view>& effort, std::string_view name, ShapeCheck& check);

struct Thinking {
  bool on = true;
  Effort effort = Effort::kHigh;
  bool asked = false;  ///< the client said so, on or off
};

/// What an effort alone says: "none" turns thinking off. Requires: checked.
Thinking thinking_of(const Field<std::string_view>& effort, bool otherwise_on);
/// Chat and Messages: an explicit `thinking` wins over the effort "none".
Thinking thinking_of(const Field<ThinkingBody>& thinking, const Field<std::string_view>& effort,
                     bool otherwise_on);

}  // namespace troupe::recipe
