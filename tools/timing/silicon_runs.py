"""End-to-end runs of real GPUs that the package ships: which can be compared, and a sample of them.

silicon_sample.csv (aiconfigurator-core 0.12.0, 5,221 runs of October 2025 to April 2026) holds the
time to first token and per output token of runs of a public benchmark (InferenceX) and of the
package's authors. Prints the sample as JSON: {"counts": {reason: runs}, "runs": [...], "others":
[...]}.
"""

import argparse
import csv
import importlib.util
import json
import os
import random
import re

GPUS_MAX = 8  # one machine; wider "aggregated" layouts of the file are products of TP and EP

# Class and the package's name of each model of the file (those that it has configurations of).
MODELS = {
    "meta-llama/Llama-3.1-70B": ("dense", "meta-llama/Meta-Llama-3.1-70B"),
    "meta-llama/Llama-3.1-8B-Instruct": ("dense", "meta-llama/Meta-Llama-3.1-8B"),
    "nvidia/Llama-3.1-8B-Instruct-FP8": ("dense", "meta-llama/Meta-Llama-3.1-8B"),
    "Qwen/Qwen3-32B": ("dense", "Qwen/Qwen3-32B"),
    "nvidia/Qwen3-32B-NVFP4": ("dense", "Qwen/Qwen3-32B"),
    "Qwen/Qwen3-235B-A22B-FP8": ("moe", "Qwen/Qwen3-235B-A22B"),
    "Qwen/Qwen3.5-397B-A17B": ("moe", "Qwen/Qwen3.5-397B-A17B"),
    "openai/gpt-oss-120b": ("moe", "openai/gpt-oss-120b"),
    "MiniMaxAI/MiniMax-M2.5": ("moe", "MiniMaxAI/MiniMax-M2.5"),
    "deepseek-ai/DeepSeek-R1": ("mla", "deepseek-ai/DeepSeek-R1"),
    "deepseek-ai/DeepSeek-V3": ("mla", "deepseek-ai/DeepSeek-V3"),
    "nvidia/DeepSeek-R1-NVFP4": ("mla", "deepseek-ai/DeepSeek-R1"),
    "nvidia/DeepSeek-V3.1-NVFP4": ("mla", "deepseek-ai/DeepSeek-V3"),
    "moonshotai/Kimi-K2.5": ("mla", "moonshotai/Kimi-K2.5"),
    "zhipuai/GLM-5": ("mla", "zai-org/GLM-5"),
}
ENGINE = ("model", "system", "backend", "tp", "dp", "ep", "gemm", "moe")


def number(text, otherwise):
    return int(float(text or 0)) or otherwise


def run_of(row):
    """What a row says, in our words; a text if the run cannot be compared."""
    if row["mode"] != "agg":
        return "disaggregated"
    if row["model_path"] not in MODELS:
        return "no configuration of the model"
    kind, model = MODELS[row["model_path"]]
    tp, dp = number(row["tp_size"], 1), number(row["attention_dp_size"], 1)
    ep = number(row["moe_ep_size"], 1) if kind != "dense" else 1
    batch = number(row["batch_size"], 0)
    if tp * dp > GPUS_MAX or number(row["pp_size"], 1) > 1:
        return "more GPUs than a machine has"
    if kind != "dense" and tp * dp != ep * number(row["moe_tp_size"], 1):
        return "a layout in which TP x DP is not MoE-TP x EP"
    asked = re.search(r"silicon_concurrency=(\d+)", row["silicon_data_source"])
    if asked and int(asked[1]) != batch * dp:
        return "a concurrency that is not the batch of all ranks"
    quant = {"gemm": row["gemm_quant_mode"], "moe": row["moe_quant_mode"]}
    # gpt-oss has FP4 experts of its own: the checkpoint's modes are right (as in the package).
    native = model == "openai/gpt-oss-120b"
    quant = {name: mode for name, mode in quant.items()
             if mode and not native and not (name == "moe" and kind == "dense")}
    return {
        "id": row["id"], "class": kind, "model": model, "system": row["system"],
        "backend": row["backend"], "tp": tp, "dp": dp, "ep": ep, "quant": quant, "batch": batch,
        "isl": int(row["isl"]), "osl": int(row["osl"]), "version": row["backend_version"],
        # The public benchmark draws lengths; the authors' own runs have fixed ones.
        "public": "/aic-auto-gap-analysis/" not in row["silicon_data_source"],
        "ttft_ms": float(row["silicon_ttft_ms"]), "tpot_ms": float(row["silicon_tpot_ms"]),
    }


def engine_of(run):
    return tuple(str(run.get(name, run["quant"].get(name))) for name in ENGINE)


def runs_of_file():
    package = os.path.dirname(importlib.util.find_spec("aiconfigurator_core").origin)
    with open(os.path.join(package, "systems", "silicon_sample.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    counts, runs, seen = {}, [], set()
    for row in rows:
        run = run_of(row)
        key = run if isinstance(run, str) else json.dumps({**run, "id": ""}, sort_keys=True)
        if not isinstance(run, str) and key not in seen:
            seen.add(key)
            runs.append(run)
            continue
        reason = run if isinstance(run, str) else "the same run again"
        counts[reason] = counts.get(reason, 0) + 1
    return counts, runs


def sample(runs, engines, each, others, seed):
    """Of each class so many engines at random, and of each so many of its runs to report; also some
    of the engines' other runs, for constants that must not be fitted to the reported ones."""
    of_engine = {}
    for run in runs:
        of_engine.setdefault((run["class"], engine_of(run)), []).append(run)
    rng = random.Random(seed)
    drawn, rest = [], []
    for kind in ("dense", "moe", "mla"):
        own = sorted(key for key in of_engine if key[0] == kind)
        for key in rng.sample(own, min(engines, len(own))):
            # Its own draw: the runs of an engine do not depend on how many others are taken.
            mixed = of_engine[key]
            random.Random(f"{seed} {key}").shuffle(mixed)
            drawn += mixed[:each]
            rest += mixed[each:each + others]
    return {"runs": drawn, "others": rest}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engines", type=int, default=12, help="of each class [12]")
    parser.add_argument("--each", type=int, default=7, help="runs of an engine [7]")
    parser.add_argument("--others", type=int, default=8, help="of an engine, not to report [8]")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts, runs = runs_of_file()
    counts["comparable"] = len(runs)
    print(json.dumps({"counts": counts, **sample(runs, arguments.engines, arguments.each,
                                                 arguments.others, arguments.seed)}))


if __name__ == "__main__":
    main()
