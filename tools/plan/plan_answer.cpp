#include "tools/plan/plan_answer.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

constexpr double kDefaultBatch = 64;
// CALIB.md: block KV; one network card of 400 Gbit/s; two windows of 1.35 MiB that go along.
constexpr double kKvBytes = 896;
constexpr double kNicBytes = 50e9;
constexpr double kWindowBytes = 2 * 1.35 * 1024 * 1024;
/// Ten of twelve shares hold data (CALIB.md, 3FS: EC 10+2).
constexpr double kErasure = 1.2;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kDay = 86'400;

Error impossible(std::string message) {
  return Error{Code::kInvalid, std::move(message)};
}

/// The question with what the objectives decide: batch and chunk.
struct Settled {
  PlanModel model;
  double batch = 0;
  DecodePoint decode;
  RequestCost cost;
};

Result<Settled> settle(const PlanQuestion& question) {
  Settled settled{question.model, question.batch, {}, {}};
  const LoadFacts& load = question.load;
  if (question.slo.ttft) {
    const auto chunk =
        largest_chunk(settled.model, question.slo.ttft->seconds(), settled.model.chunk);
    if (!chunk) return impossible("no prefill step is as short as the objective of TTFT asks");
    settled.model.chunk = *chunk;
  }
  if (settled.batch == 0 && question.slo.tpot) {
    const double most = question.model.decode.batch_most;
    const auto batch =
        largest_batch(settled.model, 1 / question.slo.tpot->seconds(), load.prompt, most);
    if (!batch) return impossible("not even one request alone keeps the objective of TPOT");
    settled.batch = *batch;
  }
  if (settled.batch == 0) settled.batch = kDefaultBatch;
  settled.decode = decode_point(settled.model, settled.batch, load.prompt);
  settled.cost =
      request_cost(settled.model, load.uncached(), load.output, settled.batch, load.prompt);
  if (question.prefill_rate > 0) settled.cost.prefill_gpu = load.uncached() / question.prefill_rate;
  if (question.decode_rate > 0) settled.cost.decode_gpu = load.output / question.decode_rate;
  return settled;
}

void add_load(const LoadFacts& load, PlanAnswer& answer) {
  answer.facts.push_back({"Prompt tokens, mean", "prompt_tokens", load.prompt, 1});
  answer.facts.push_back({"Prefix hit rate (%)", "hit_percent", load.hit * 100, 2});
  answer.facts.push_back({"Computed prompt tokens, mean", "uncached_tokens", load.uncached(), 1});
  answer.facts.push_back({"Answer tokens, mean", "output_tokens", load.output, 1});
  if (load.rate > 0) answer.facts.push_back({"Rate (req/s)", "rate", load.rate, 2});
  if (load.peak_rate > 0) {
    answer.facts.push_back({"Rate of the busiest minute (req/s)", "peak_rate", load.peak_rate, 2});
  }
}

void add_costs(const Settled& settled, PlanAnswer& answer) {
  answer.facts.push_back({"Requests a decode GPU", "batch", settled.batch, 0});
  answer.facts.push_back({"Verified drafts a step", "drafts", settled.decode.verified, 2});
  answer.facts.push_back({"User speed (tok/s)", "user_rate", settled.decode.user_rate, 1});
  answer.facts.push_back({"TPOT (ms)", "tpot_ms", 1e3 / settled.decode.user_rate, 2});
  answer.facts.push_back(
      {"Prefill GPU-ms a request", "prefill_gpu_ms", settled.cost.prefill_gpu * 1e3, 2});
  answer.facts.push_back(
      {"Decode GPU-ms a request", "decode_gpu_ms", settled.cost.decode_gpu * 1e3, 2});
  answer.facts.push_back({"P:D ratio of GPUs", "ratio", settled.cost.ratio(), 2});
}

void add_first_token(const PlanQuestion& question, const Settled& settled, PlanAnswer& answer) {
  const LoadFacts& load = question.load;
  const double alone = prefill_step(settled.model, load.uncached());
  const double fetch = load.prompt * load.hit * kKvBytes / kNicBytes;
  const double push = (load.prompt * kKvBytes + kWindowBytes) / kNicBytes;
  answer.facts.push_back({"TTFT of an idle system (ms)", "ttft_idle_ms", alone * 1e3, 1});
  answer.facts.push_back(
      {"  and fetch of the hit, one 400G card (ms)", "fetch_ms", fetch * 1e3, 2});
  answer.facts.push_back({"  and push to decode, one 400G card (ms)", "push_ms", push * 1e3, 2});
  answer.facts.push_back({"Tokens of a full prefill step", "chunk", settled.model.chunk, 0});
  answer.facts.push_back({"TTFT in full steps: half a step, a step (ms)", "ttft_busy_ms",
                          1.5 * prefill_step(settled.model, settled.model.chunk) * 1e3, 1});
}

Status add_gpus(const PlanQuestion& question, const Settled& settled, PlanAnswer& answer) {
  if (question.gpus == 0 && question.prefill_gpus > 0) {
    return impossible("--prefill-gpus says how many of --gpus; give both");
  }
  if (question.gpus == 0) return ok_status();
  if (question.gpus < 2) return impossible("both pools need a GPU");
  if (question.prefill_gpus >= question.gpus) {
    return impossible("of all GPUs some must be left for decode");
  }
  auto take = [&](double prefill) {
    return question.efficiency * std::min(prefill / settled.cost.prefill_gpu,
                                          (question.gpus - prefill) / settled.cost.decode_gpu);
  };
  const double best =
      std::clamp(std::round(settled.cost.best_prefill(question.gpus)), 1.0, question.gpus - 1);
  answer.facts.push_back({"Best split: prefill GPUs", "best_prefill_gpus", best, 0});
  answer.facts.push_back({"Best split: decode GPUs", "best_decode_gpus", question.gpus - best, 0});
  answer.facts.push_back({"  takes (req/s)", "best_capacity", take(best), 0});
  answer.size.best_prefill_gpus = best;
  answer.size.capacity = take(best);
  if (question.prefill_gpus == 0) return ok_status();
  const double prefill = question.efficiency * question.prefill_gpus / settled.cost.prefill_gpu;
  const double decode =
      question.efficiency * (question.gpus - question.prefill_gpus) / settled.cost.decode_gpu;
  answer.facts.push_back({"Given split: prefill takes (req/s)", "prefill_capacity", prefill, 0});
  answer.facts.push_back({"Given split: decode takes (req/s)", "decode_capacity", decode, 0});
  answer.facts.push_back({"Given split: takes (req/s)", "capacity", std::min(prefill, decode), 0});
  answer.size.capacity = std::min(prefill, decode);
  return ok_status();
}

void add_need(const PlanQuestion& question, const Settled& settled, double rate,
              const std::string& when, const std::string& key, PlanAnswer& answer) {
  if (rate <= 0) return;
  auto gpus = [&](double seconds) { return std::ceil(rate * seconds / question.efficiency); };
  const double prefill = gpus(settled.cost.prefill_gpu), decode = gpus(settled.cost.decode_gpu);
  answer.facts.push_back({"Prefill GPUs" + when, "prefill_gpus" + key, prefill, 0});
  answer.facts.push_back({"Decode GPUs" + when, "decode_gpus" + key, decode, 0});
  answer.facts.push_back({"GPUs" + when, "gpus" + key, prefill + decode, 0});
  answer.size.prefill_gpus = std::max(answer.size.prefill_gpus, prefill);
  answer.size.decode_gpus = std::max(answer.size.decode_gpus, decode);
}

void add_store(const LoadFacts& load, PlanAnswer& answer) {
  if (load.rate <= 0) return;
  const double read = load.rate * load.prompt * load.hit * kKvBytes / kGiB;
  const double write = load.rate * (load.uncached() + load.output) * kKvBytes / kGiB;
  answer.facts.push_back({"KV store: read (GiB/s)", "store_read_gib_s", read, 2});
  answer.facts.push_back({"KV store: write (GiB/s)", "store_write_gib_s", write, 2});
  for (const int days : {3, 7}) {
    const double kept = write * kDay * days * kErasure / 1024;
    answer.facts.push_back({"KV store: kept for " + std::to_string(days) + " d, EC 10+2 (TiB)",
                            "store_kept_tib_" + std::to_string(days) + "d", kept, 1});
  }
}

void add_price(const PlanQuestion& question, const Settled& settled, PlanAnswer& answer) {
  if (question.gpu_hour_cost <= 0) return;
  const double gpu_seconds =
      (settled.cost.prefill_gpu + settled.cost.decode_gpu) / question.efficiency;
  const double request = gpu_seconds / 3600 * question.gpu_hour_cost;
  answer.facts.push_back({"Cost of 1,000 requests", "cost_1000_requests", request * 1e3, 4});
  answer.facts.push_back({"Cost of 1M answer tokens", "cost_1m_output_tokens",
                          request / question.load.output * 1e6, 4});
}

void warn(const PlanQuestion& question, const Settled& settled, PlanAnswer& answer) {
  const DecodeConstants& decode = question.model.decode;
  if (settled.batch < decode.batch_least || settled.batch > decode.batch_most) {
    answer.warnings.emplace_back("the batch is outside of the published 8 to 256: extrapolation");
  }
  if (question.load.prompt > decode.context_most) {
    answer.warnings.emplace_back("prompts are longer than the published 131,072: extrapolation");
  }
  const PrefillConstants& prefill = question.model.prefill;
  if (settled.model.chunk < prefill.q_least || settled.model.chunk > prefill.q_most) {
    answer.warnings.emplace_back(
        "full prefill steps are outside of the published 4,096 to 65,536 "
        "tokens: extrapolation");
  }
  answer.warnings.emplace_back("closed form: no queues; --simulate has them");
}

}  // namespace

Result<PlanAnswer> answer_plan(const PlanQuestion& question) {
  TROUPE_TRY_ASSIGN(const Settled settled, settle(question));
  PlanAnswer answer;
  answer.size.batch = settled.batch;
  answer.size.chunk = settled.model.chunk;
  add_load(question.load, answer);
  add_costs(settled, answer);
  add_first_token(question, settled, answer);
  TROUPE_TRY(add_gpus(question, settled, answer));
  add_need(question, settled, question.load.rate, " for the mean rate", "", answer);
  add_need(question, settled, question.load.peak_rate, " for the busiest minute", "_peak", answer);
  add_store(question.load, answer);
  add_price(question, settled, answer);
  warn(question, settled, answer);
  return answer;
}

}  // namespace troupe
