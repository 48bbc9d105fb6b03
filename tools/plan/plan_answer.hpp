// The answer of `troupe plan`: facts with a title for people and a key for programs.
//
// Either a number of GPUs is given, and the answer is what they take and how they are best split;
// or a rate, and the answer is how many GPUs it needs; or both. All of it is closed form
// (capacity.hpp): nobody waits in it but for a step that is under way.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "tools/plan/capacity.hpp"
#include "tools/plan/load_facts.hpp"

namespace troupe {

struct PlanQuestion {
  LoadFacts load;
  Slo slo;
  PlanModel model;
  double batch = 0;          ///< requests a decode GPU; 0: 64, or what the objectives allow
  double efficiency = 0.8;   ///< of perfectly balanced (QUEUEING.md, W15: production)
  double gpus = 0;           ///< in all; 0: not given
  double prefill_gpus = 0;   ///< of them, if the split is given; else 0
  double prefill_rate = 0;   ///< uncached tokens a second of a GPU instead of the model's; 0: model
  double decode_rate = 0;    ///< output tokens a second of a GPU instead of the model's
  double gpu_hour_cost = 0;  ///< 0: not given
};

struct PlanFact {
  std::string title;
  std::string key;
  double value = 0;
  int decimals = 0;
};

/// What the facts say of sizes, for whoever goes on with them.
struct PlanSize {
  double batch = 0;
  double chunk = 0;         ///< tokens of a full prefill step
  double prefill_gpus = 0;  ///< that the rate needs, of its busiest minute; 0: no rate
  double decode_gpus = 0;
  double best_prefill_gpus = 0;  ///< of a given number; 0: not given
  double capacity = 0;           ///< requests a second of these, as they are split
};

struct PlanAnswer {
  PlanSize size;
  std::vector<PlanFact> facts;
  std::vector<std::string> warnings;  ///< extrapolation, and what a closed form cannot see
};

/// Errors: objectives that no batch or chunk keeps; a split of more GPUs than there are.
Result<PlanAnswer> answer_plan(const PlanQuestion& question);

std::string plan_text(const PlanAnswer& answer);
struct SimulatedAnswer;
/// `simulated` may be null.
std::string plan_json(const PlanAnswer& answer, const SimulatedAnswer* simulated = nullptr);

}  // namespace troupe
