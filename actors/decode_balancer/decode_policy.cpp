#include "actors/decode_balancer/decode_policy.hpp"

#include <array>
#include <string>
#include <utility>

namespace troupe {

namespace {

constexpr std::array<std::pair<DecodeRule, std::string_view>, 5> kNames{{
    {DecodeRule::kBalanced, "balanced"},
    {DecodeRule::kRows, "rows"},
    {DecodeRule::kTokens, "tokens"},
    {DecodeRule::kRoundRobin, "round-robin"},
    {DecodeRule::kLiteral, "literal"},
}};

/// How far one request moves the running median: settles within some hundred requests.
constexpr double kMedianStep = 1.02;

}  // namespace

std::string_view to_string(DecodeRule rule) {
  for (const auto& [one, name] : kNames) {
    if (one == rule) return name;
  }
  return "unknown";
}

Result<DecodeRule> decode_rule_from(std::string_view name) {
  std::string known;
  for (const auto& [rule, its_name] : kNames) {
    if (its_name == name) return rule;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  return Error{Code::kInvalid, "no decode policy is called '" + std::string(name.substr(0, 40)) +
                                   "'; there are " + known};
}

bool DecodePolicy::is_short(std::uint64_t tokens) {
  const auto now = static_cast<double>(tokens);
  if (median_ == 0) median_ = now;
  const bool shorter = now < median_;
  median_ = shorter ? median_ / kMedianStep : median_ * kMedianStep;
  return shorter;
}

std::optional<GpuId> DecodePolicy::choose(const DecodePool& pool, const DecodeNeed& need,
                                          std::uint64_t level) {
  switch (rule_) {
    case DecodeRule::kBalanced: {
      if (level >= need.tokens) {
        const auto low = pool.fewest_rows(need, level - need.tokens);
        if (low) return low;
      }
      return pool.fewest_tokens(need);
    }
    case DecodeRule::kRows:
      return pool.fewest_rows(need, DecodePool::kAnyTokens);
    case DecodeRule::kTokens:
      return pool.fewest_tokens(need);
    case DecodeRule::kRoundRobin: {
      const auto next = pool.next_after(last_, need);
      if (next) last_ = *next;
      return next;
    }
    case DecodeRule::kLiteral:
      if (is_short(need.tokens)) {
        const auto few = pool.most_tokens_of_few_rows(need);
        if (few) return few;
      }
      return pool.fewest_tokens(need);
  }
  return std::nullopt;
}

}  // namespace troupe
