"""The simulated cluster: how fast its world runs, how its policies do on recorded traces, and how
it stands against other simulators."""

import gzip
import os
import pathlib
import shutil
import tempfile

from tools.benches import simulate_peers
from tools.benches.figure import run_json
from tools.benches.programs import figure

TRACES = {"--conversation": "mooncake_conversation", "--agentic": "synthetic_agentic"}
FIGURES = {"--conversation": ("simulate.router_p95_vs_best", "simulate.router_imbalance"),
           "--agentic": ("simulate.decode_spread",)}


def plain(shared, name, folder):
    """The unpacked trace, or why there is none."""
    packed = shared / "simulation/traces" / f"{name}.jsonl.gz"
    if not packed.exists():
        return f"no {packed}: set TROUPE_SHARED"
    unpacked = folder / f"{name}.jsonl"
    with gzip.open(packed, "rb") as source, unpacked.open("wb") as target:
        shutil.copyfileobj(source, target)
    return unpacked


def own_figures(bench, traces):
    command = [bench.program("bench_simulate"), "--json"] + (["--quick"] if bench.quick else [])
    missing = []
    for flag, name in TRACES.items():
        if isinstance(traces[name], str):
            missing += [(one, traces[name]) for one in FIGURES[flag]]
        else:
            command += [flag, str(traces[name])]
    figures = [figure(entry) for entry in run_json(command, timeout_s=1800)["figures"]]
    for name, why in missing:
        figures.append(figure({"name": name, "value": None, "unit": "", "target": 1.0,
                               "at_most": True, "why": why}))
    return figures


def run(bench):
    shared = pathlib.Path(os.environ.get("TROUPE_SHARED", bench.root.parent / "shared"))
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        traces = {name: plain(shared, name, folder)
                  for name in (*TRACES.values(), "azure2023_conv")}
        return own_figures(bench, traces) + simulate_peers.run(bench, traces, folder)
