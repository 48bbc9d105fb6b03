#include "actors/prefill_balancer/prefill_policy.hpp"

#include <array>
#include <string>
#include <utility>

namespace troupe {

namespace {
constexpr std::array<std::pair<PrefillRule, std::string_view>, 6> kRuleNames{{
    {PrefillRule::kBuckets, "buckets"},
    {PrefillRule::kRoundRobin, "round-robin"},
    {PrefillRule::kLeastWork, "least-work"},
    {PrefillRule::kTwoChoices, "two-choices"},
    {PrefillRule::kAffinity, "affinity"},
    {PrefillRule::kCost, "cost"},
}};
}  // namespace

std::string_view to_string(PrefillRule rule) {
  for (const auto& [one, name] : kRuleNames) {
    if (one == rule) return name;
  }
  return "unknown";
}

Result<PrefillRule> prefill_rule_from(std::string_view name) {
  std::string known;
  for (const auto& [rule, its_name] : kRuleNames) {
    if (its_name == name) return rule;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  return Error{Code::kInvalid, "no prefill policy is called '" + std::string(name.substr(0, 40)) +
                                   "'; there are " + known};
}

}  // namespace troupe
