#!/usr/bin/env python3
"""Fits HOST_US of silicon_load.py: what engines' hosts take beside the kernels that tables know.

Simulates, without a host, runs of the sample's engines that `tools/bench silicon` does not report
(silicon_runs.py, "others"), and prints for each backend the step_us and row_us that minimise the
sum of |simulated + step + row * batch - measured| / measured over them. Dense and MoE models only:
runs of DeepSeek may have drafts, which the file does not tell.

  python3 -m tools.benches.silicon_fit     from the project's root; needs what the area needs
"""

import pathlib
import statistics
import subprocess
import sys

from tools.benches.silicon import ENGINES, EACH, ask, cache, simulate

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEP_US, ROW_US = range(0, 5001, 100), [2.5 * i for i in range(49)]


def fit(rows):
    """(step, row, error before, error after) of rows (batch, simulated ms, measured ms)."""
    def off(step, row):
        return [abs((ours + (step + row * batch) / 1e3) / measured - 1)
                for batch, ours, measured in rows]

    step, row = min(((step, row) for step in STEP_US for row in ROW_US),
                    key=lambda host: sum(off(*host)))
    return step, row, *(100 * statistics.median(off(*host)) for host in ((0, 0), (step, row)))


def main():
    python = subprocess.run([ROOT / "tools/venv", "timing"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout.strip()
    sampled = ask(python, ROOT / "tools/timing/silicon_runs.py", [], "--engines", ENGINES,
                  "--each", EACH)
    runs = [run for run in sampled["others"] if run["class"] != "mla"]
    tables = ask(python, ROOT / "tools/timing/silicon_tables.py", runs, cache() / "timing/silicon")
    program = str(ROOT / "build/release/bin/troupe")
    rows = {}
    for run in runs:
        found = simulate(program, run, tables[run["id"]], host=False)
        if "missing" not in found:
            rows.setdefault(run["backend"], []).append(
                (run["batch"], found["tpot_ms"], run["tpot_ms"]))
        print(run["id"], found, file=sys.stderr)
    for backend, own in sorted(rows.items()):
        step, row, before, after = fit(own)
        print(f"{backend}: {step} us a step, {row} us a row ({len(own)} runs; median error "
              f"{before:.1f} % without, {after:.1f} % with)")


if __name__ == "__main__":
    main()
