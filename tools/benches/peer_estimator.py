"""The estimator of the package aiconfigurator, for runs as JSON on standard input.

Prints {run's id: {"ttft_ms", "tpot_ms"} or {"missing": why}}. For tools/bench silicon, in the
environment timing-peers of tools/venv.
"""

import contextlib
import functools
import io
import json
import logging
import sys

from aiconfigurator.cli.api import cli_estimate
from aiconfigurator.sdk.perf_database import get_latest_database_version

# What cli_estimate would ask itself, twice for each run, for seconds.
newest = functools.cache(get_latest_database_version)


def estimate(run):
    layout = {"tp_size": run["tp"], "attention_dp_size": run["dp"]}
    if run["class"] != "dense":
        layout |= {"moe_ep_size": run["ep"], "moe_tp_size": run["tp"] * run["dp"] // run["ep"]}
    quant = {f"{name}_quant_mode": mode for name, mode in run["quant"].items()}
    version = newest(system=run["system"], backend=run["backend"])
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            found = cli_estimate(run["model"], run["system"], mode="agg",
                                 backend_name=run["backend"],
                                 backend_version=version, isl=run["isl"], osl=run["osl"],
                                 batch_size=run["batch"], **layout, **quant)
    except Exception as failure:  # it raises many kinds where it has no measurements
        return {"missing": f"{type(failure).__name__}: {failure}".splitlines()[0][:160]}
    return {"ttft_ms": float(found.ttft), "tpot_ms": float(found.tpot)}


def main():
    logging.disable(logging.CRITICAL)
    estimates = {}
    for run in json.load(sys.stdin):
        estimates[run["id"]] = estimate(run)
        print(f"estimated {run['id']}: {estimates[run['id']]}", file=sys.stderr)
    print(json.dumps(estimates))


if __name__ == "__main__":
    main()
