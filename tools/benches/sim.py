"""Simulation: events per second of both drivers against a bare loop of the same cores."""

from tools.benches.programs import run_program


def run(bench):
    return run_program(bench, "bench_sim")
