"""Silicon: simulated runs and AIConfigurator's estimates against measured ones of real GPUs.

A random sample (fixed seed) of the runs that aiconfigurator-core 0.12.0 ships is simulated with
tables of step times of just these engines; the same package's estimator answers for the same runs.
Prints median and p90 errors of TPOT and TTFT by class of model. docs/simulation.md, Measured runs.
"""

import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from tools.benches.figure import Figure, Missing
from tools.benches.silicon_load import flags

ENGINES, EACH = 12, 7  # of each of three classes, and runs of each engine
RUNS_LEAST = 150
WHY_MAX = 160  # characters of a reason
CLASSES = {"dense": "dense", "moe": "MoE", "mla": "DeepSeek, MLA"}


def ask(python, script, runs, *arguments, timeout_s=3600):
    """Runs a script of an environment on the runs, and reads the JSON that it prints."""
    done = subprocess.run([python, str(script), *map(str, arguments)],
                          input=json.dumps(runs), stdout=subprocess.PIPE, text=True,
                          timeout=timeout_s, check=False)
    if done.returncode != 0:
        raise Missing(f"{script} failed with exit code {done.returncode} (above)")
    return json.loads(done.stdout)


def simulate(program, run, table, host=True):
    """{"ttft_ms", "tpot_ms"}, or {"missing": why}."""
    if "missing" in table:
        return table
    load = flags(run, table["table"], host)
    if load is None:
        return {"missing": "its weights do not fit into the GPU's memory"}
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as scenario:
        # All requests of the run may wait at once; there is no flag for that.
        scenario.write(f"cluster: {{rank_queue_max: {max(256, run['batch'])}}}\n")
        scenario.flush()
        command = [program, "simulate", "--json", "--scenario", scenario.name, *map(str, load)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode != 0:
        return {"missing": "; ".join(done.stderr.splitlines()[:2])[:WHY_MAX]}
    report = json.loads(done.stdout)
    if report["ok"] != report["requests"]:
        return {"missing": f"{report['requests'] - report['ok']} requests failed"}
    # The file does not say which value it holds. TTFT of the other runs agrees with means (of which
    # the first wave is a part), not with medians; TPOT's two differ by a percent or two.
    return {"ttft_ms": report["ttft_ms"]["mean"], "tpot_ms": report["tpot_ms"]["mean"]}


def errors(runs, answers, what):
    return sorted(abs(answers[run["id"]][what] / run[what] - 1) for run in runs)


def share(values, percent):
    return values[min(len(values) - 1, len(values) * percent // 100)]


def table_lines(runs, ours, theirs):
    """Errors by class in percent: ours / the estimator's."""
    yield f"{'class':16}{'runs':>6}" + "".join(
        f"{name:>22}" for name in ("TPOT median", "TPOT p90", "TTFT median", "TTFT p90"))
    groups = {name: [run for run in runs if run["class"] == kind]
              for kind, name in CLASSES.items()} | {"all": runs}
    for name, group in groups.items():
        if not group:
            continue
        cells = []
        for what in ("tpot_ms", "ttft_ms"):
            both = [errors(group, answers, what) for answers in (ours, theirs)]
            for percent in (50, 90):
                cells.append(" / ".join(f"{100 * share(one, percent):.1f}" for one in both))
        yield f"{name:16}{len(group):6}" + "".join(f"{cell:>22}" for cell in cells)


def say_missing(runs, answers, who):
    reasons = {}
    for run in runs:
        why = answers[run["id"]].get("missing")
        if why:
            reasons[why] = reasons.get(why, 0) + 1
    for why, count in sorted(reasons.items(), key=lambda item: -item[1]):
        print(f"{who} cannot: {count} ({why})")


def cache():
    shared = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("TROUPE_CACHE") or pathlib.Path(shared) / "troupe")


def measure(bench):
    """The sampled runs, and both sides' answers by a run's id."""
    program = bench.program("troupe")
    pythons = [bench.peer_python(name) for name in ("timing", "timing-peers")]
    if None in pythons:
        raise Missing("the package and its estimator are not installed: --install-peers")
    tools = bench.root / "tools"
    engines = 3 if bench.quick else ENGINES
    sampled = ask(pythons[0], tools / "timing/silicon_runs.py", [], "--engines", engines,
                  "--each", EACH)
    runs = sampled["runs"]
    for reason, count in sorted(sampled["counts"].items(), key=lambda item: -item[1]):
        print(f"{count:6} runs of the file: {reason}")
    tables = ask(pythons[0], tools / "timing/silicon_tables.py", runs, cache() / "timing/silicon")
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        theirs = beside.submit(ask, pythons[1], tools / "benches/peer_estimator.py", runs)
        ours = {}
        for run in runs:
            ours[run["id"]] = simulate(program, run, tables[run["id"]])
            print(f"simulated {run['id']}: {ours[run['id']]}", file=sys.stderr)
        return runs, ours, theirs.result()


def run(bench):
    runs, ours, theirs = measure(bench)
    say_missing(runs, ours, "the simulator")
    say_missing(runs, theirs, "the estimator")
    both = [run for run in runs if "missing" not in ours[run["id"]] | theirs[run["id"]]]
    print("\n".join(table_lines(both, ours, theirs)))
    figure = Figure("simulate.tpot_error_vs_estimator", None, "% median error", 1.0)
    if len(both) < (1 if bench.quick else RUNS_LEAST):
        figure.why = f"only {len(both)} runs could be compared"
        return [figure]
    figure.ours, figure.peer = (100 * statistics.median(errors(both, answers, "tpot_ms"))
                                for answers in (ours, theirs))
    figure.value = figure.peer / figure.ours
    return [figure]
