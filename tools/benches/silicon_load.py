"""A measured run as a load of `troupe simulate`: lengths, steps, memory. Sources of every constant.

The public benchmark is InferenceX (github.com/SemiAnalysisAI/InferenceX), whose launch scripts from
October 2025 to April 2026 are in benchmarks/; the other runs are the package authors' own.
"""

import json

# utils/bench_serving/benchmark_serving.py: both lengths are uniform in [0.8 L, L]
# (RANDOM_RANGE_RATIO of .github/workflows/benchmark-tmpl.yml).
SHORTEST = 0.8
# Requests of a run: ten times the concurrency (--num-prompts of the launch scripts); to save time
# fewer where that takes more steps or output tokens than these, but three times at least.
WAVES, WAVES_LEAST, STEPS_WISHED, TOKENS_WISHED = 10, 3, 25_000, 500_000

# Tokens of a step. vLLM: max-num-batched-tokens of the Llama-70B and gpt-oss scripts, and what its
# server takes on these GPUs by itself. TensorRT-LLM: --max_num_tokens of the Llama-70B, gpt-oss and
# DeepSeek scripts, else the engine's default. SGLang: --chunked-prefill-size of the DeepSeek (both)
# and Qwen3.5 scripts, else its default on these GPUs.
STEP_TOKENS = {
    "vllm": {},
    "trtllm": {"Llama-3.1-70B": 16384, "gpt-oss": 20000},
    "sglang": {"DeepSeek": 16384, "Qwen3.5": 16384},
}
STEP_TOKENS_ELSE = 8192

# Requests of one fixed length stay in lockstep in a simulator without noise: all prompts at once,
# then all answers. With vLLM and TensorRT-LLM the authors' runs were not so (TTFT of runs that are
# not reported: a quarter of that of a wave), so that their answers end within this share of OSL.
# SGLang computes all waiting prompts before it decodes, which keeps waves together: none there.
JITTER = 0.1

# Microseconds of the engine's host a step, and a row that gets a token: silicon_fit.py, on runs of
# the drawn engines that are not reported.
HOST_US = {"vllm": (200, 5), "trtllm": (300, 22.5), "sglang": (1600, 2.5)}

BLOCK_TOKENS = 128  # of a KV block (runtime/kv)
# Of the GPU's memory: vLLM's gpu_memory_utilization; the others end within 0.05 of it.
MEMORY_SHARE = 0.9


def step_tokens(run):
    for model, tokens in STEP_TOKENS[run["backend"]].items():
        if model in run["model"]:
            return tokens
    return STEP_TOKENS_ELSE


def requests(run):
    wished = min(WAVES, STEPS_WISHED // run["osl"], TOKENS_WISHED // (run["batch"] * run["osl"]))
    waves = max(WAVES_LEAST, wished)
    return max(10, waves * run["batch"])


def kv_blocks(run, table):
    """Blocks of one GPU that weights and buffers leave; 0 if these do not fit."""
    memory = table["memory"]
    used = max(phase["weights_bytes"] + phase["nccl_bytes"] + phase["others_bytes"]
               for phase in memory.values())
    left = MEMORY_SHARE * table["gpu"]["memory_bytes"] - used
    longest = run["isl"] + run["osl"]
    contexts, sizes = table["kv"]["context"], table["kv"]["bytes_per_request"]
    size = next(size for context, size in zip(contexts, sizes) if context >= longest)
    context = contexts[sizes.index(size)]
    return max(0, int(left / (size / context) / BLOCK_TOKENS))


def flags(run, path, host=True):
    """Of `troupe simulate`: one rank of the engine, all of whose ranks carry the same load.

    Returns None if the model does not fit.
    """
    with open(path) as file:
        blocks = kv_blocks(run, json.load(file))
    if blocks == 0:
        return None
    shortest = SHORTEST if run["public"] else 1
    middle, spread = (1 + shortest) / 2, (1 - shortest) / 2
    jitter = 0 if run["backend"] == "sglang" else JITTER
    step_us, row_us = HOST_US[run["backend"]] if host else (0, 0)
    return [
        "--timing", path, "--host-step-us", step_us, "--host-row-us", row_us,
        "--concurrency", run["batch"], "--num-requests", requests(run),
        "--isl", round(middle * run["isl"]),
        "--isl-stddev", round(spread * run["isl"] / 3**0.5),  # of a uniform distribution
        "--osl", round(middle * run["osl"]),
        "--osl-spread", round(max(spread, jitter) * run["osl"]),
        "--max-num-seqs", run["batch"], "--max-num-batched-tokens", step_tokens(run),
        "--blocks", min(blocks, 1_000_000), "--request-timeout", 100_000,
    ]
