// bench_engine MODEL.gguf [--json] [--repeats N]
//
// Speed of the CPU engine with one thread, in tokens per CPU-second, so that other work on the
// machine does not count:
//   prefill512_tok_per_cpu_s   a 512-token prompt, logits of its last token
//   decode128_tok_per_cpu_s    128 greedy steps after that prompt, batch of 1
//   batch8_over_batch1         tokens/s of 8 such sequences decoded together, over those of one
// Each is measured `repeats` times (default 5) and given as median, minimum and maximum. The prompt
// is seeded random token ids: the work does not depend on which they are.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/base/rng.hpp"
#include "runtime/model/llama.hpp"

namespace troupe {
namespace {

constexpr std::uint32_t kPromptTokens = 512;
constexpr std::uint32_t kDecodeSteps = 128;
constexpr std::uint32_t kBatch = 8;
constexpr std::uint32_t kBatchSteps = 32;
constexpr std::uint32_t kBlocksPerSequence = (kPromptTokens + kDecodeSteps) / kBlockTokens;

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "bench_engine: %s\n", message.c_str());
  std::exit(1);
}

/// Sequences that were given the same prompt and go on greedily.
class Bench {
 public:
  explicit Bench(LlamaModel& model)
      : model_(model),
        cache_(kBatch * kBlocksPerSequence, model.config()),
        logits_(std::size_t{kBatch} * model.config().vocabulary) {
    Rng rng(1);
    for (std::uint32_t i = 0; i < kPromptTokens; ++i) {
      prompt_.emplace_back(static_cast<std::int32_t>(rng.below(model.config().vocabulary)));
    }
    for (std::uint32_t i = 0; i < kBatch * kBlocksPerSequence; ++i) blocks_.emplace_back(i);
  }

  /// CPU-seconds of the prompt.
  double prefill(std::uint32_t sequence) {
    const ForwardRow row{prompt_, 0, table(sequence), true};
    return timed({&row, 1});
  }

  /// CPU-seconds of `steps` steps of the first `batch` sequences.
  double decode(std::uint32_t batch, std::uint32_t steps) {
    std::vector<TokenId> last(batch, prompt_[0]);
    std::vector<ForwardRow> rows(batch);
    double seconds = 0;
    for (std::uint32_t step = 0; step < steps; ++step) {
      for (std::uint32_t i = 0; i < batch; ++i) {
        rows[i] = {{&last[i], 1}, kPromptTokens + step, table(i), true};
      }
      seconds += timed(rows);
      for (std::uint32_t i = 0; i < batch; ++i) last[i] = greedy(i);
    }
    return seconds;
  }

 private:
  std::span<const BlockId> table(std::uint32_t sequence) const {
    return std::span(blocks_).subspan(sequence * kBlocksPerSequence, kBlocksPerSequence);
  }

  double timed(std::span<const ForwardRow> rows) {
    const std::span<float> logits(logits_.data(), rows.size() * model_.config().vocabulary);
    const double start = cpu_seconds();
    const Status status = model_.forward(rows, cache_, logits, never_);
    const double seconds = cpu_seconds() - start;
    if (!status.ok()) fail(to_string(status.error()));
    return seconds;
  }

  TokenId greedy(std::uint32_t row) const {
    const std::size_t size = model_.config().vocabulary;
    const auto first = logits_.begin() + static_cast<std::ptrdiff_t>(row * size);
    const auto best = std::max_element(first, first + static_cast<std::ptrdiff_t>(size));
    return TokenId(static_cast<std::int32_t>(best - first));
  }

  LlamaModel& model_;
  KvCache cache_;
  std::vector<float> logits_;
  std::vector<TokenId> prompt_;
  std::vector<BlockId> blocks_;
  const std::atomic<bool> never_{false};
};

struct Samples {
  const char* name;
  std::vector<double> values;

  void print(const char* separator) {
    std::sort(values.begin(), values.end());
    std::printf("  \"%s\": {\"median\": %.4g, \"min\": %.4g, \"max\": %.4g}%s\n", name,
                values[values.size() / 2], values.front(), values.back(), separator);
  }
};

void measure(LlamaModel& model, int repeats) {
  Bench bench(model);
  Samples prefill{"prefill512_tok_per_cpu_s", {}};
  Samples decode{"decode128_tok_per_cpu_s", {}};
  Samples batch{"batch8_decode_tok_per_cpu_s", {}};
  Samples ratio{"batch8_over_batch1", {}};
  for (std::uint32_t i = 0; i < kBatch; ++i) bench.prefill(i);  // warm, and the prompts of decode
  for (int i = 0; i < repeats; ++i) {
    prefill.values.push_back(kPromptTokens / bench.prefill(0));
    decode.values.push_back(kDecodeSteps / bench.decode(1, kDecodeSteps));
    const double one = kBatchSteps / bench.decode(1, kBatchSteps);
    const double eight = kBatch * kBatchSteps / bench.decode(kBatch, kBatchSteps);
    batch.values.push_back(eight);
    ratio.values.push_back(eight / one);
  }
  std::printf("{\n  \"threads\": 1,\n  \"repeats\": %d,\n  \"kernels\": \"%s\",\n", repeats,
              model.options().kernels->name.data());
  prefill.print(",");
  decode.print(",");
  batch.print(",");
  ratio.print("");
  std::printf("}\n");
}

int run(int argc, char** argv) {
  std::string path;
  int repeats = 5;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--repeats") == 0 && i + 1 < argc) {
      repeats = std::max(1, std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--json") != 0) {
      path = argv[i];
    }
  }
  if (path.empty()) fail("usage: bench_engine MODEL.gguf [--json] [--repeats N]");
  auto file = GgufFile::open(path);
  if (!file.ok()) fail(to_string(file.error()));
  auto model = LlamaModel::load(*file, {.threads = 1, .max_batch_tokens = kPromptTokens});
  if (!model.ok()) fail(to_string(model.error()));
  measure(**model, repeats);
  return 0;
}

}  // namespace
}  // namespace troupe

int main(int argc, char** argv) {
  return troupe::run(argc, argv);
}
