#include "runtime/recipe/request/thinking.hpp"

#include <limits>

namespace troupe::recipe {
namespace {

Effort effort_named(std::string_view name) {
  if (name == "minimal" || name == "low") return Effort::kLow;
  if (name == "xhigh") return Effort::kXhigh;
  if (name == "ultra" || name == "max") return Effort::kMax;
  return Effort::kHigh;
}

}  // namespace

bool check_thinking(const Field<ThinkingBody>& thinking, ShapeCheck& check) {
  if (!check.optional(thinking, "thinking")) return false;
  return !thinking.given() || check.within("thinking", [&] {
    return check.required_one_of(thinking.value.type, "type",
                                 {"adaptive", "enabled", "disabled"}) &&
           check.whole(thinking.value.budget_tokens, "budget_tokens",
                       std::numeric_limits<std::uint64_t>::max());
  });
}

bool check_effort(const Field<std::string_view>& effort, std::string_view name, ShapeCheck& check) {
  return check.optional_one_of(
      effort, name, {"none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max"});
}

Thinking thinking_of(const Field<std::string_view>& effort, bool otherwise_on) {
  if (!effort.given()) return {otherwise_on, Effort::kHigh, false};
  return {effort.value != "none", effort_named(effort.value), true};
}

Thinking thinking_of(const Field<ThinkingBody>& thinking, const Field<std::string_view>& effort,
                     bool otherwise_on) {
  Thinking result = thinking_of(effort, otherwise_on);
  if (thinking.given()) {
    result.on = thinking.value.type.value != "disabled";
    result.asked = true;
  }
  return result;
}

}  // namespace troupe::recipe
