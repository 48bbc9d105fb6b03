// SmolLM2-135M against logits and greedy continuations that transformers computed in fp32.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/istreamwrapper.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "tests/runtime/model/llama_run.hpp"
#include "tests/runtime/model/npz.hpp"
#include "tests/runtime/model/smollm2.hpp"

namespace troupe::test {
namespace {

constexpr double kLogitTolerance = 1e-3;  // the issue's; measured: see the test's output
constexpr double kNearTie = 0.01;         // golden gap below which fp32 order may decide otherwise
constexpr std::size_t kGoldenSteps = 64;
constexpr std::size_t kSteps = kSanitized ? 2 : kGoldenSteps;  // that are run
constexpr std::size_t kStride = kSanitized ? 5 : 1;            // every prompt, or two of ten

struct GoldenPrompt {
  std::vector<TokenId> prompt;
  std::vector<TokenId> greedy;
  std::vector<double> gaps;  // best minus second logit at each step
  std::vector<float> first_logits;
};

std::vector<TokenId> tokens_of(const rapidjson::Value& array) {
  std::vector<TokenId> tokens;
  for (const auto& id : array.GetArray()) tokens.emplace_back(id.GetInt());
  return tokens;
}

std::vector<GoldenPrompt> load_golden() {
  std::ifstream file(shared_path("model/golden_smollm2/golden_fp32.json"));
  rapidjson::IStreamWrapper stream(file);
  rapidjson::Document document;
  document.ParseStream(stream);
  const Npz logits(shared_path("model/golden_smollm2/first_logits_fp32.npz"));
  std::vector<GoldenPrompt> prompts;
  for (const auto& entry : document["prompts"].GetArray()) {
    GoldenPrompt prompt{tokens_of(entry["ids"]), tokens_of(entry["greedy64"]), {}, {}};
    for (const auto& gap : entry["gaps"].GetArray()) prompt.gaps.push_back(gap.GetDouble());
    prompt.first_logits = logits.at("first_logits_" + std::to_string(prompts.size()));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = a.size() == b.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

struct Outcome {
  double difference = 0;       // of the first logits
  std::size_t equal = 0;       // tokens equal to the golden ones, up to the first that differs
  bool left_at_a_tie = false;  // whether that one was a near-tie
};

Outcome continue_greedily(LlamaModel& model, const GoldenPrompt& golden, std::size_t steps) {
  KvCache cache(2, model.config());
  Sequence sequence{golden.prompt, block_range(0, 2)};
  std::vector<float> logits = prefill(model, cache, sequence, 512);
  Outcome outcome{largest_difference(logits, golden.first_logits)};
  for (; outcome.equal < steps; ++outcome.equal) {
    const TokenId next = greedy(logits);
    if (next != golden.greedy[outcome.equal]) {
      outcome.left_at_a_tie = golden.gaps[outcome.equal] < kNearTie;
      break;
    }
    sequence.tokens.push_back(next);
    logits = prefill(model, cache, sequence, 1);
  }
  return outcome;
}

TEST(LlamaGolden, FirstLogitsAndGreedyContinuations) {
  TROUPE_NEEDS_FILE(smollm2_path());
  TROUPE_NEEDS_FILE(shared_path("model/golden_smollm2/golden_fp32.json"));
  const auto model = load_smollm2({.threads = 2});
  const auto golden = load_golden();
  ASSERT_EQ(golden.size(), 10u);
  std::size_t near_ties = 0;
  double largest = 0;
  for (const auto& prompt : golden) {
    ASSERT_EQ(prompt.greedy.size(), kGoldenSteps);
    for (const double gap : prompt.gaps) near_ties += gap < kNearTie ? 1 : 0;
  }
  EXPECT_EQ(near_ties, 5u) << "of the 640 golden steps";
  for (std::size_t i = 0; i < golden.size(); i += kStride) {
    SCOPED_TRACE("prompt " + std::to_string(i));
    const Outcome outcome = continue_greedily(*model, golden[i], kSteps);
    largest = std::max(largest, outcome.difference);
    EXPECT_LT(outcome.difference, kLogitTolerance);
    EXPECT_TRUE(outcome.equal == kSteps || outcome.left_at_a_tie)
        << "differs at token " << outcome.equal;
    std::printf("prompt %zu: %zu of %zu tokens equal, first logits within %.2g\n", i, outcome.equal,
                kSteps, outcome.difference);
  }
  RecordProperty("largest_difference", std::to_string(largest));
}

// Minutes under a sanitizer, where the plain kernels run on tiny models.
#if !TROUPE_SANITIZED
TEST(LlamaGolden, ReferenceKernelsAgree) {
  TROUPE_NEEDS_FILE(smollm2_path());
  TROUPE_NEEDS_FILE(shared_path("model/golden_smollm2/golden_fp32.json"));
  const auto model = load_smollm2({.threads = 2, .kernels = &cpu::reference_kernels()});
  const Outcome outcome = continue_greedily(*model, load_golden()[5], 2);
  EXPECT_LT(outcome.difference, kLogitTolerance);
  EXPECT_EQ(outcome.equal, 2u);
}
#endif

}  // namespace
}  // namespace troupe::test
