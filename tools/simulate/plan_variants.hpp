// Plans that differ in some keys from one file: what a sweep runs.
//
//   --vary prefill.engines=8,16 --vary decode.rows_most=64,96   →   four plans
//
// Keys that change together are named together, and so are their values:
//
//   --vary prefill.engines,decode.ranks=56:72,60:68           →   two plans of as many GPUs
//
// A key is a path into the file ("workload.request_rate", "constants.decode_efficiency"); whatever
// the file may hold may be varied, and is refused in the same words.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "runtime/simulation/cluster_plan.hpp"
#include "runtime/simulation/engine_plan.hpp"

namespace troupe {

/// Prefill and decode apart, or engines that do both.
using AnyPlan = std::variant<ClusterPlan, EnginePlan>;
/// Errors: kNotFound, kInvalid.
Result<AnyPlan> load_any_plan(const std::string& file);

struct VariedKey {
  std::string key;                  ///< or several: "a.b,c.d"
  std::vector<std::string> values;  ///< then "1:2", one for each of them
};

struct PlanVariant {
  std::vector<std::string> values;  ///< one a varied key
  AnyPlan plan;
};

/// More would be a mistake of whoever asks.
inline constexpr std::size_t kVariantsMost = 4096;

/// "prefill.engines=8,16". Errors: kInvalid, with what is expected.
Result<VariedKey> parse_varied_key(const std::string& text);

/// All combinations, the last key's values next to each other.
/// Errors: kNotFound, kInvalid: the file, or one with the values in it, is not a plan.
Result<std::vector<PlanVariant>> vary_plan(const std::string& file,
                                           const std::vector<VariedKey>& keys);

}  // namespace troupe
