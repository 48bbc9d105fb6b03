#include "tools/plan/capacity.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

constexpr double kPublishedContext = 131'072;
/// Numbers of verified drafts that are tried: from 0.3 to 5, a twentieth apart.
constexpr int kTriesFrom = 6;
constexpr int kTriesTo = 100;
constexpr double kTriesStep = 0.05;
/// A request waits for half of a step before its own, on average.
constexpr double kSteps = 1.5;

/// The best tokens a second over drafts of varying length.
DecodePoint best_varying(const PlanModel& model, double batch, double context) {
  DecodePoint best;
  for (int i = kTriesFrom; i <= kTriesTo; ++i) {
    const double verified = i * kTriesStep;
    const double rate = accepted(model.drafts, verified) /
                        decode_step(model, batch, verified, context) * (1 - model.drafts.overhead);
    if (rate > best.user_rate) best = {rate, verified, 0};
  }
  return best;
}

DecodePoint fixed_point(const PlanModel& model, double batch, double context, double verified) {
  return {accepted(model.drafts, verified) / decode_step(model, batch, verified, context), verified,
          0};
}

}  // namespace

double prefill_step(const PlanModel& model, double tokens) {
  return model.prefill.a + model.prefill.b * tokens;
}

double decode_step(const PlanModel& model, double batch, double drafts, double context) {
  const DecodeConstants& c = model.decode;
  const double verified = batch * (1 + drafts);
  return c.t0 + (model.ep8 ? model.ep8_extra : 0) + c.k * batch * context / kPublishedContext +
         c.p1 * verified + (c.p2 - c.p1) * std::max(0.0, verified - c.n1);
}

double accepted(const DraftConstants& drafts, double verified) {
  if (verified <= 0) return 1;
  return 1 + drafts.most * (1 - std::exp(-std::pow(verified / drafts.scale, drafts.power)));
}

DecodePoint decode_point(const PlanModel& model, double batch, double context) {
  const double fixed_drafts = model.policy == Drafts::kNone ? 0 : model.drafts.fixed;
  DecodePoint point = fixed_point(model, batch, context, fixed_drafts);
  if (model.policy == Drafts::kBest) {
    const DecodePoint varying = best_varying(model, batch, context);
    if (varying.user_rate > point.user_rate) point = varying;
  }
  point.gpu_rate = point.user_rate * batch;
  return point;
}

double draft_gain(const PlanModel& model, double batch, double context) {
  return best_varying(model, batch, context).user_rate /
             fixed_point(model, batch, context, model.drafts.fixed).user_rate -
         1;
}

RequestCost request_cost(const PlanModel& model, double uncached, double output, double batch,
                         double context) {
  RequestCost cost;
  cost.prefill_gpu = uncached * prefill_step(model, model.chunk) / model.chunk;
  cost.decode_gpu = output / decode_point(model, batch, context).gpu_rate;
  return cost;
}

std::optional<double> largest_batch(const PlanModel& model, double user_rate, double context,
                                    double most) {
  for (double batch = most; batch >= 1; --batch) {
    if (decode_point(model, batch, context).user_rate >= user_rate) return batch;
  }
  return std::nullopt;
}

std::optional<double> largest_chunk(const PlanModel& model, double seconds, double most) {
  const double tokens = std::floor((seconds / kSteps - model.prefill.a) / model.prefill.b);
  if (tokens < 1) return std::nullopt;
  return std::min(tokens, most);
}

}  // namespace troupe
