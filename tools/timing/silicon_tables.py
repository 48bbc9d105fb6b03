"""Timing tables for sampled runs: one for each distinct engine, on a coarse grid, cached.

Reads the runs of silicon_runs.py as JSON from standard input and prints {run's id: {"table": path}
or {"missing": why}} as JSON. After a change of the grid or of tools/timing/engine.py the folder must
be emptied: a table's name tells the engine only.
"""

import argparse
import hashlib
import json
import logging
import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from presets import Preset
from silicon_runs import engine_of


WHY_MAX = 160  # characters of a reason


def name_of(run):
    """Readable, and another one for each precision."""
    model = run["model"].split("/")[1].lower()
    layout = f"tp{run['tp']}-dp{run['dp']}-ep{run['ep']}"
    decides = hashlib.sha256(repr(engine_of(run)).encode()).hexdigest()[:8]
    return f"{model}-{run['system']}-{run['backend']}-{layout}-{decides}"


def table_of(run, folder):
    name = name_of(run)
    path = os.path.join(folder, name + ".json")
    unknown = path + ".missing"  # the package has no measurements: that does not change
    if os.path.exists(path):
        return {"table": path}
    if os.path.exists(unknown):
        with open(unknown) as file:
            return {"missing": file.read()}
    from export import export, write  # only now: the package takes seconds to load
    from grid import COARSE
    layout = (run["tp"], run["dp"], run["ep"])
    preset = Preset(run["model"], run["system"], run["backend"], layout, layout,
                    {"quant": run["quant"]})
    started = time.time()
    try:
        write(folder, export(name, preset, COARSE))
    except Exception as failure:  # the package raises many kinds where it has no measurements
        why = f"{type(failure).__name__}: {failure}".splitlines()[0][:WHY_MAX]
        if type(failure).__name__ == "PerfDataNotAvailableError":
            with open(unknown, "w") as file:
                file.write(why)
        print(f"{name}: {why}", file=sys.stderr)
        return {"missing": why}
    print(f"{path} ({time.time() - started:.0f} s)", file=sys.stderr)
    return {"table": path}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="of the tables")
    folder = parser.parse_args().folder
    os.makedirs(folder, exist_ok=True)
    logging.disable(logging.CRITICAL)  # the package logs each missing table that it does not need
    runs = json.load(sys.stdin)
    tables = {}
    for run in runs:
        engine = engine_of(run)
        if engine not in tables:
            tables[engine] = table_of(run, folder)
    print(json.dumps({run["id"]: tables[engine_of(run)] for run in runs}))


if __name__ == "__main__":
    main()
