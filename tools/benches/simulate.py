"""The simulated cluster: how fast its world runs, and how its policies do on recorded traces."""

import gzip
import os
import pathlib
import shutil
import tempfile

from tools.benches.figure import run_json
from tools.benches.programs import figure

TRACES = {"--conversation": "mooncake_conversation", "--agentic": "synthetic_agentic"}
FIGURES = {"--conversation": ("simulate.router_p95_vs_best", "simulate.router_imbalance"),
           "--agentic": ("simulate.decode_spread",)}


def run(bench):
    shared = pathlib.Path(os.environ.get("TROUPE_SHARED", bench.root.parent / "shared"))
    command = [bench.program("bench_simulate"), "--json"] + (["--quick"] if bench.quick else [])
    missing = []
    with tempfile.TemporaryDirectory() as folder:
        for flag, name in TRACES.items():
            packed = shared / "simulation/traces" / f"{name}.jsonl.gz"
            if not packed.exists():
                missing += [(one, f"no {packed}: set TROUPE_SHARED") for one in FIGURES[flag]]
                continue
            plain = pathlib.Path(folder) / f"{name}.jsonl"
            with gzip.open(packed, "rb") as source, plain.open("wb") as target:
                shutil.copyfileobj(source, target)
            command += [flag, str(plain)]
        figures = [figure(entry) for entry in run_json(command, timeout_s=1800)["figures"]]
    for name, why in missing:
        figures.append(figure({"name": name, "value": None, "unit": "", "target": 1.0,
                               "at_most": True, "why": why}))
    return figures
