// CALIB.md's throughput rows and its gains of confidence-chosen drafts come out of the simulator of
// events: a decode instance kept full by an endless load, its tokens counted over a window.
#include <gtest/gtest.h>

#include "tools/simulate/pd_cluster.hpp"

namespace troupe {
namespace {

constexpr double kFillSeconds = 12;
constexpr double kWindowSeconds = 20;

struct Decoding {
  std::uint32_t rows = 64;
  const char* drafts = "fixed";
  double chance = 0;  ///< of a draft; 0: the fitted curve
  double extra_ms = 0;
  std::uint32_t ranks = 64;
};

/// Tokens a second and GPU, with `rows` requests a GPU at 131,072 tokens on average.
double throughput(const Decoding& decoding) {
  ClusterPlan plan;
  plan.prefill.engines = 64;
  plan.prefill.moves_a_round = 64;
  plan.decode.ranks = decoding.ranks;
  plan.decode.rows_most = decoding.rows;
  plan.decode.kv_gb = 100;
  plan.decode.drafts = decoding.drafts;
  plan.set_constant("draft_chance", decoding.chance, "test");
  plan.set_constant("decode_extra_ms", decoding.extra_ms, "test");
  plan.requests_max = 1u << 16;
  plan.prefix.cached_share = 1;
  plan.workload.isl = 131'072 - 2'000;
  plan.workload.osl = 4'000;
  plan.workload.osl_spread = 2'000;
  // A tenth more than fits, so that each place is taken again at once.
  plan.workload.concurrency = decoding.rows * decoding.ranks * 11 / 10 + 32;
  plan.workload.duration = seconds(1'000);
  PdCluster::Options options;
  options.trace_hash = false;
  auto made = PdCluster::make(plan, std::move(options));
  EXPECT_TRUE(made.ok());
  PdCluster& cluster = **made;
  cluster.run_until(Time() + from_seconds(kFillSeconds));
  const GroupUse before = cluster.decode_use();
  cluster.run_until(Time() + from_seconds(kFillSeconds + kWindowSeconds));
  const GroupUse after = cluster.decode_use();
  const double rows = (after.row_time - before.row_time) / (after.busy - before.busy);
  EXPECT_GT(rows, 0.97 * decoding.rows) << "the instance is full";
  return (after.tokens - before.tokens) / kWindowSeconds / decoding.ranks;
}

TEST(PdCalib, DecodeThroughputRows) {
  // CALIB.md, Error table: the model's values, with drafts of seed 004's plots.
  const struct {
    Decoding decoding;
    double expected;
  } rows[] = {
      {{8, "fixed", 0.75}, 2600},
      {{64, "fixed", 0.75}, 15713},
      {{256, "fixed", 0.75}, 26272},
      {{64, "fixed", 0.75, 3.177, 8}, 12700},
  };
  for (const auto& row : rows) {
    const double got = throughput(row.decoding);
    std::printf("EP%u, %u rows a GPU: %.0f tokens/s a GPU, model %.0f (%+.2f %%)\n",
                row.decoding.ranks, row.decoding.rows, got, row.expected,
                (got / row.expected - 1) * 100);
    EXPECT_NEAR(got, row.expected, 0.03 * row.expected);
  }
}

TEST(PdCalib, GainsOfChosenDrafts) {
  const std::pair<std::uint32_t, double> gains[] = {
      {16, -1.5113}, {60, 5.3646}, {72, 7.5324}, {96, 10.232}};
  for (const auto& [rows, expected] : gains) {
    const double fixed = throughput({rows, "fixed"});
    const double chosen = throughput({rows, "confidence"});
    const double gain = (chosen / fixed - 1) * 100;
    std::printf("%u rows a GPU: chosen drafts give %+.2f %%, model %+.2f\n", rows, gain, expected);
    EXPECT_NEAR(gain, expected, 0.5);
  }
}

/// One engine of four ranks, each with prompts of exactly one step's chunk.
double prefill_rate(std::uint32_t chunk) {
  ClusterPlan plan;
  plan.prefill.engines = 1;
  plan.prefill.step_budget = seconds(2);
  plan.prefill.chunk_tokens = chunk;
  plan.decode.rows_most = 256;
  plan.workload.isl = chunk;
  plan.workload.osl = 1;
  plan.workload.concurrency = 64;
  plan.workload.duration = seconds(1'000);
  PdCluster::Options options;
  options.trace_hash = false;
  auto made = PdCluster::make(plan, std::move(options));
  EXPECT_TRUE(made.ok());
  (*made)->run_until(Time() + seconds(10));
  const GroupUse before = (*made)->prefill_use();
  (*made)->run_until(Time() + seconds(40));
  const GroupUse after = (*made)->prefill_use();
  return (after.tokens - before.tokens) / 30 / 4;
}

TEST(PdCalib, PrefillThroughputRows) {
  const std::pair<std::uint32_t, double> rows[] = {{65'536, 89'500}, {4'096, 61'724}};
  for (const auto& [chunk, expected] : rows) {
    const double got = prefill_rate(chunk);
    std::printf("steps of %u tokens: %.0f tokens/s a GPU, model %.0f (%+.2f %%)\n", chunk, got,
                expected, (got / expected - 1) * 100);
    EXPECT_NEAR(got, expected, 0.03 * expected);
  }
}

}  // namespace
}  // namespace troupe
