"""Against life: a model on this machine's CPU, and the simulator told what its steps cost.

A node serves the model and notes what its steps take (`--cost-file`, runtime/cost/step_fit.hpp)
under a load of mixed lengths. Then it serves each of LOADS, `troupe traffic` measures, and `troupe
simulate` predicts the same load from the noted costs. The figures are the largest errors over all
loads; the table has each. A busy machine makes both noisy: run it on an idle one.

The picture of a run is build/bench-life.svg; docs/simulation-life.svg is one.
"""

import os
import pathlib
import sys
import tempfile

from tools.benches.figure import Figure, Missing, run_json
from tools.benches.life_plot import plot

# Users who ask again at once: one, a few, more than fit into one step of prompts.
LOADS = (1, 3, 6)
ISL, OSL = 200, 40
SECONDS, QUICK_SECONDS = 20, 8
CALIBRATION = (1, 3, 6)  # users
CALIBRATION_SECONDS, QUICK_CALIBRATION_SECONDS = 12, 4
STEP_TOKENS = 512
TARGET = 0.15
READY_S = 60


class Served:
    """The node, ended at the end of the block."""

    def __init__(self, bench, cost_file=None):
        sys.path.insert(0, str(bench.root / "tests/live"))
        os.environ.setdefault("TROUPE_SOURCE", str(bench.root))
        import node  # of the live tests: ports, readiness, an end within a deadline
        words = ["--model", bench.model_file(), "--max-num-batched-tokens", str(STEP_TOKENS)]
        if cost_file:
            words += ["--cost-file", cost_file]
        self.node = node.Node(words).wait_ready()

    def __enter__(self):
        return f"http://127.0.0.1:{self.node.port}"

    def __exit__(self, *failure):
        self.node.stop()


def measured(bench, url, users, seconds, **more):
    lengths = {"isl": ISL, "osl": OSL, **more}
    command = [bench.program("troupe"), "traffic", "--url", url, "--concurrency", users, "--warmup",
               users, "--duration", seconds, "--num-requests", 0, "--json"]
    for name, value in lengths.items():
        command += [f"--{name}", value]
    return run_json([str(word) for word in command], timeout_s=10 * seconds + 60)


def predicted(bench, costs, report, users, seconds):
    """The same load, with the prompts that the server saw."""
    seen = report["usage"]
    isl = round(seen["input_tokens"] / seen["answers"])
    command = [bench.program("troupe"), "simulate", "--config", costs, "--concurrency", users,
               "--warmup", users, "--duration", seconds, "--num-requests", 0, "--isl",
               isl, "--osl", OSL, "--json"]
    return run_json([str(word) for word in command])


def facts(report):
    return {"ttft_ms": report["ttft_ms"]["mean"], "tpot_ms": report["tpot_ms"]["mean"],
            "tokens_per_s": report["output_tokens"] / report["duration_s"]}


def run(bench):
    seconds = QUICK_SECONDS if bench.quick else SECONDS
    calibration = QUICK_CALIBRATION_SECONDS if bench.quick else CALIBRATION_SECONDS
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        costs = str(pathlib.Path(folder) / "costs.yaml")
        with Served(bench, costs) as url:
            for users in CALIBRATION:
                measured(bench, url, users, calibration, isl="uniform:20:600", osl="uniform:5:60")
        if not os.path.exists(costs):
            raise Missing("the node wrote no costs: too few steps in this time")
        print(pathlib.Path(costs).read_text())
        with Served(bench) as url:
            for users in LOADS:
                report = measured(bench, url, users, seconds)
                if report["ok"] < 2:
                    raise Missing(f"{users} users: {report['ok']} answers in {seconds} s")
                simulated = predicted(bench, costs, report, users, seconds)
                rows.append((users, facts(report), facts(simulated)))
    print(f"{'users':>6}" + "".join(f"{name:>34}" for name in (
        "TTFT ms, measured / simulated", "TPOT ms", "tokens/s")))
    for users, ours, theirs in rows:
        print(f"{users:6}" + "".join(
            f"{ours[key]:16.1f} / {theirs[key]:6.1f} {theirs[key] / ours[key]:7.2f}x"
            for key in ours))
    picture = bench.root / "build/bench-life.svg"
    picture.write_text(plot(rows))
    print(f"picture: {picture.relative_to(bench.root)}")
    return [worst("life.ttft_error", "ttft_ms", rows), worst("life.throughput_error",
                                                              "tokens_per_s", rows)]


def worst(name, key, rows):
    errors = [abs(simulated[key] / life[key] - 1) for _, life, simulated in rows]
    return Figure(name, max(errors), "largest relative error", TARGET, at_most=True,
                  low=min(errors), high=max(errors))
