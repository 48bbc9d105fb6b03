#include "tools/cli/foreign_flags.hpp"

#include <algorithm>
#include <array>

namespace troupe::cli {

namespace {

constexpr std::string_view kWholeModel = "each rank holds the whole model; see --ranks and --join";
constexpr std::string_view kInFile = "the model's file says it";

constexpr std::array kRows = std::to_array<ForeignFlag>({
    // Servers: vLLM.
    {"--gpu-memory-utilization", "--kv-memory", ""},
    {"--num-gpu-blocks-override", "--kv-blocks", ""},
    {"--data-parallel-size", "--ranks", ""},
    {"--uvicorn-log-level", "--log-level", ""},
    {"--async-scheduling", "--async", ""},
    {"--tensor-parallel-size", "", kWholeModel},
    {"--pipeline-parallel-size", "", kWholeModel},
    {"--enable-expert-parallel", "", kWholeModel},
    {"--quantization", "", kInFile},
    {"--dtype", "", kInFile},
    {"--chat-template", "", "the prompt format is recognized from the model"},
    {"--trust-remote-code", "", "no code of a model is ever run"},
    {"--enable-prefix-caching", "", "blocks are not shared between requests yet"},
    {"--speculative-config", "", "there are no drafts yet"},
    {"--enable-lora", "", "there are no adapters"},
    // Servers: SGLang.
    {"--model-path", "--model", ""},
    {"--mem-fraction-static", "--kv-memory", ""},
    {"--context-length", "--max-model-len", ""},
    {"--max-running-requests", "--max-num-seqs", ""},
    {"--chunked-prefill-size", "--max-num-batched-tokens", ""},
    {"--max-prefill-tokens", "--max-num-batched-tokens", ""},
    {"--dp-size", "--ranks", ""},
    {"--tp-size", "", kWholeModel},
    {"--tp", "", kWholeModel},
    {"--pp-size", "", kWholeModel},
    {"--ep-size", "", kWholeModel},
    // Load generators: vllm bench serve, sglang.bench_serving, AIPerf.
    {"--base-url", "--url", ""},
    {"--num-prompts", "--num-requests", ""},
    {"--request-count", "--num-requests", ""},
    {"--max-concurrency", "--concurrency", ""},
    {"--random-input-len", "--isl", ""},
    {"--random-output-len", "--osl", ""},
    {"--input-len", "--isl", ""},
    {"--output-len", "--osl", ""},
    {"--synthetic-input-tokens-mean", "--isl", ""},
    {"--synthetic-input-tokens-stddev", "--isl-stddev", ""},
    {"--output-tokens-mean", "--osl", ""},
    {"--output-tokens-stddev", "--osl-stddev", ""},
    {"--num-warmups", "--warmup", ""},
    {"--warmup-request-count", "--warmup", ""},
    {"--dataset-name", "", "prompts are made up; see --isl, --osl and --trace"},
    {"--dataset-path", "--trace", ""},
    {"--custom-dataset-type", "", "a trace's format is seen in its first line; see --trace"},
    {"--fixed-schedule", "--trace", ""},
    {"--benchmark-duration", "--duration", ""},
    {"--request-rate-mode", "--burstiness", ""},
    {"--ramp-up-strategy", "--phase", ""},
    {"--ramp-up-start-rps", "--phase", ""},
    {"--ramp-up-end-rps", "--phase", ""},
    {"--common-prefix-len", "--prefix-len", ""},
    {"--prefix-prompt-length", "--prefix-len", ""},
    {"--num-prefix-prompts", "--prefix-groups", ""},
    {"--gsp-num-groups", "--prefix-groups", ""},
    {"--gsp-system-prompt-len", "--prefix-len", ""},
    {"--session-turns-mean", "--turns", ""},
    {"--session-turn-delay-mean", "--think-time", ""},
    {"--request-cancellation-rate", "--cancel-rate", ""},
    {"--request-cancellation-delay", "--cancel-delay", ""},
    {"--random-seed", "--seed", ""},
    {"--extra-inputs", "--extra-body", ""},
    {"--extra-request-body", "--extra-body", ""},
    {"--disable-ignore-eos", "--stop-at-eos", ""},
    {"--random-range-ratio", "", "write --isl uniform:LOW:HIGH and --osl uniform:LOW:HIGH"},
    {"--percentile-metrics", "", "all of them are printed, with p50 p90 p99 p99.9"},
    {"--metric-percentiles", "", "all of them are printed, with p50 p90 p99 p99.9"},
    {"--tokenizer", "", "words are chosen to be one token each; the report has the server's count"},
});

}  // namespace

const ForeignFlag* find_foreign_flag(std::string_view name) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const ForeignFlag& each) { return each.name == name; });
  return row == kRows.end() ? nullptr : &*row;
}

}  // namespace troupe::cli
