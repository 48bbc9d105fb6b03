// How many GPUs a load needs, in closed form: no queues, no events.
//
// From the cost model of the simulated GPU (runtime/simulation/cost_model.hpp):
//
//   prefill GPU-seconds a request  g_P = q (a + b C) / C     q: uncached tokens, C: tokens of a
//   step decode step                    t(B, v), B: requests a GPU, N = B (1 + v) verified tokens
//   tokens a step and request      A(v) = 1 + Am (1 - exp(-(v / c)^d)), v: verified drafts
//   decode GPU-seconds a request   g_D = output / (B × user rate), user rate = max over v of A / t
//
// P:D = g_P / g_D balances the pools; a pool of n GPUs takes n / g requests a second. Efficiency
// below 1 (imbalance; the seeds say about 0.8 in production) divides both. The drafts' constants
// and the cost of EP8 are CALIB.md's fits to seed 004, as are the others; worked examples and what
// they say of seed 001's plan are in QUEUEING.md and docs/what-if.md.
//
// Pure. Units: seconds, tokens, requests a GPU.
#pragma once

#include <optional>

#include "runtime/base/result.hpp"
#include "runtime/base/time.hpp"
#include "runtime/simulation/cost_model.hpp"

namespace troupe {

/// How many draft tokens a step verifies.
enum class Drafts {
  kNone,
  kFixed,  ///< always five
  kBest,   ///< what gives most, at a cost of its own, or five if that is better
};

/// CALIB.md, "accepted length, confidence-ordered drafts" and "DSpark policy".
struct DraftConstants {
  double most = 2.31377;      ///< Am
  double scale = 1.68226;     ///< c
  double power = 1.5;         ///< d
  double overhead = 0.01511;  ///< of a step with drafts of varying length
  double fixed = 5;           ///< drafts a step
};

struct PlanModel {
  PrefillConstants prefill;
  DecodeConstants decode;
  DraftConstants drafts;
  /// An EP8 step reads 48 instead of 7 experts a GPU; one published point (CALIB.md).
  double ep8_extra = 3.177e-3;
  bool ep8 = false;
  Drafts policy = Drafts::kBest;
  double chunk = 16'384;  ///< prompt tokens of a packed prefill step
};

double prefill_step(const PlanModel& model, double tokens);
/// Requires: batch > 0.
double decode_step(const PlanModel& model, double batch, double drafts, double context);
/// Tokens that a request gets of a step that verifies so many drafts for it.
double accepted(const DraftConstants& drafts, double verified);

struct DecodePoint {
  double user_rate = 0;  ///< tokens a second for each request
  double verified = 0;   ///< drafts a step
  double gpu_rate = 0;   ///< tokens a second of a GPU
};
DecodePoint decode_point(const PlanModel& model, double batch, double context);
/// By how much the best drafts of varying length are above five always, as a share (below 0: less).
double draft_gain(const PlanModel& model, double batch, double context);

/// What one request of a load needs.
struct RequestCost {
  double prefill_gpu = 0;  ///< seconds
  double decode_gpu = 0;
  double ratio() const { return prefill_gpu / decode_gpu; }
  /// Of so many GPUs those that prefill, when both pools are equally loaded.
  double best_prefill(double gpus) const { return gpus * prefill_gpu / (prefill_gpu + decode_gpu); }
};
RequestCost request_cost(const PlanModel& model, double uncached, double output, double batch,
                         double context);

/// The largest batch, at most `most`, at which a user has at least so many tokens a second;
/// nothing: not even one request alone has.
std::optional<double> largest_batch(const PlanModel& model, double user_rate, double context,
                                    double most);
/// The largest chunk, at most `most`, at which a step and half of the one before take no longer.
std::optional<double> largest_chunk(const PlanModel& model, double seconds, double most);

}  // namespace troupe
