"""Areas whose program measures everything itself and prints {"figures": [...]}."""

from tools.benches.figure import Figure, run_json


def run_program(bench, name):
    """The figures of build/release/bin/NAME --json."""
    command = [bench.program(name), "--json"] + (["--quick"] if bench.quick else [])
    return [figure(entry) for entry in run_json(command)["figures"]]


def figure(entry):
    known = {key: entry.get(key) for key in ("ours", "peer", "low", "median", "high")}
    return Figure(entry["name"], entry["value"], entry["unit"], entry["target"],
                  at_most=entry.get("at_most", False), why=entry.get("why", ""), **known)
