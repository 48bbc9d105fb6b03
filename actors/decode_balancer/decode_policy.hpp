// How a decode GPU is chosen for one request: the seed's rule, and others to compare it with.
//
//   balanced   DualPath's rule within a group, over all GPUs (ALGOS 1.3): among the GPUs that stay
//              at or below Z tokens with this request, the one with the fewest rows; if there is
//              none, the one with the fewest tokens. Short requests stay below Z nearly everywhere
//              and so fill up the GPUs with few but long requests; long ones find room only where
//              tokens are few: this is what the seed describes.
//   rows       the fewest rows, then the fewest tokens
//   tokens     the fewest tokens, then the fewest rows
//   round-robin
//   literal    the seed's sentence word by word: a request below the median goes, among the GPUs
//              of few rows, to the one with the most tokens; any other to the fewest tokens
//
// Pure; one owner (the turn of round robin and the running median are state).
#pragma once

#include <optional>
#include <string_view>

#include "actors/decode_balancer/decode_pool.hpp"
#include "runtime/base/result.hpp"

namespace troupe {

enum class DecodeRule : std::uint8_t { kBalanced, kRows, kTokens, kRoundRobin, kLiteral };

std::string_view to_string(DecodeRule rule);
/// kInvalid names the rules that there are.
Result<DecodeRule> decode_rule_from(std::string_view name);

class DecodePolicy {
 public:
  explicit DecodePolicy(DecodeRule rule = DecodeRule::kBalanced) : rule_(rule) {}

  /// A GPU with room for `need`, or nothing. `level`: Z, the tokens that a GPU should not exceed.
  std::optional<GpuId> choose(const DecodePool& pool, const DecodeNeed& need, std::uint64_t level);

 private:
  bool is_short(std::uint64_t tokens);

  DecodeRule rule_;
  GpuId last_{~std::uint32_t{0}};
  double median_ = 0;  ///< of the needs so far, in tokens
};

}  // namespace troupe
