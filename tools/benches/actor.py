"""Actor: what a message costs, with and without the counters of `observed`."""

from tools.benches.programs import run_program


def run(bench):
    return run_program(bench, "bench_actor")
