"""The cluster of engines against other simulators on the same load, in turn in one run.

CPU time a request: all that a side does from reading the trace to its figures. The peers are
Dynamo's offline replay (ai-dynamo-runtime 1.6.1) and Vidur 0.0.26; the step times are theirs
(tests/bench/engines/peer_costs.hpp).
"""

import csv
import itertools
import json
import os

from tools.benches.figure import Figure, Missing, from_rounds, run_json

WORKERS = (8, 64)
REPLICAS, REQUESTS, RATE = 16, 10_000, 24.0
APART_MOST = 0.10  # of mean decode batches
MICRO = 1e6
HERE = "tools/benches"


def decode_batch(answer, engines):
    """Rows that decode on an average engine, over the whole run: by Little's law."""
    decoding = (answer["e2e_ms"] - answer["ttft_ms"]) / 1e3 * answer["requests"]
    return decoding / (answer["duration_s"] * engines)


def per_request(answers):
    return [answer["cpu_s"] / answer["requests"] * MICRO for answer in answers]


def gain(name, target, ours, peers):
    """How many times less CPU time a request takes here."""
    figure = from_rounds(name, "us CPU/request", target, per_request(peers), per_request(ours))
    figure.ours, figure.peer = figure.peer, figure.ours
    return figure


def measure(name, target, rounds, ours, peer):
    """Both sides in turn; ours() and peer() give a run's answer."""
    answers = ([], [])
    for _ in range(rounds):
        for side, program in zip(answers, (ours, peer)):
            side.append(program())
    return gain(name, target, *answers), answers[0][-1], answers[1][-1]


def dynamo_figure(bench, python, trace, workers, rounds):
    name, speed = f"simulate.vs_dynamo_{workers}", str(workers / 8)
    mine = [bench.program("bench_engines"), "replay", str(trace), str(workers), speed]
    theirs = [python, str(bench.root / HERE / "peer_dynamo.py"), str(trace), str(workers), speed]
    environment = os.environ | {"DYN_LOG": "error"}  # else it prints each of its decisions
    figure, our, their = measure(name, 5, rounds, lambda: run_json(mine),
                                 lambda: run_json(theirs, env=environment))
    batches = [decode_batch(answer, workers) for answer in (our, their)]
    figure.why = (f"mean decode batch {batches[0]:.3f}, peer {batches[1]:.3f}; mean TTFT "
                  f"{our['ttft_ms']:.0f} and {their['ttft_ms']:.0f} ms, TPOT {our['tpot_ms']:.2f} "
                  f"and {their['tpot_ms']:.2f} ms")
    if abs(batches[0] / batches[1] - 1) > APART_MOST or our["requests"] != their["requests"]:
        figure.why = f"value {figure.value:.3g} does not count: not the same work: " + figure.why
        figure.value = None
    return figure


def write_lengths(trace, folder):
    """The same requests for both: a trace in lines, and Vidur's two columns. The trace again from
    its beginning where it has too few."""
    with trace.open() as source:
        rows = [json.loads(line) for line in source]
    rows = list(itertools.islice(itertools.cycle(rows), REQUESTS))
    lines, table = folder / "lengths.jsonl", folder / "lengths.csv"
    with lines.open("w") as target:
        for row in rows:
            lengths = {key: row[key] for key in ("input_length", "output_length")}
            target.write(json.dumps({"timestamp": 0, **lengths}) + "\n")
    with table.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(("num_prefill_tokens", "num_decode_tokens"))
        writer.writerows((row["input_length"], row["output_length"]) for row in rows)
    return lines, table


def vidur_figure(bench, python, trace, folder, rounds):
    lines, table = write_lengths(trace, folder)
    mine = [bench.program("bench_engines"), "vidur", str(lines), str(REPLICAS), str(RATE)]
    theirs = [python, str(bench.root / HERE / "peer_vidur.py"), str(table), str(REPLICAS),
              str(REQUESTS), str(RATE)]
    figure, our, their = measure("simulate.vs_vidur", 50, rounds, lambda: run_json(mine),
                                 lambda: run_json(theirs))
    figure.why = (f"virtual seconds {our['duration_s']:.1f}, peer {their['duration_s']:.1f}; the "
                  "peer's predictor is a stub, so that its core alone is measured")
    return figure


def run(bench, traces, folder):
    """`traces`: a name's plain file, or why it is not there."""
    rounds = 1 if bench.quick else 3
    figures = []

    def add(name, target, environment, trace, make):
        python = bench.peer_python(environment)
        if isinstance(trace, str):
            why = trace
        elif python is None:
            why = "the peer is not installed: --install-peers"
        else:
            try:
                figures.append(make(python))
                return
            except Missing as failure:
                why = str(failure)
        figures.append(Figure(name, None, "us CPU/request", target, why=why))

    conversation, lengths = traces["mooncake_conversation"], traces["azure2023_conv"]
    for workers in WORKERS:
        add(f"simulate.vs_dynamo_{workers}", 5, "simulate-dynamo", conversation,
            lambda python, n=workers: dynamo_figure(bench, python, conversation, n, rounds))
    add("simulate.vs_vidur", 50, "simulate-vidur", lengths,
        lambda python: vidur_figure(bench, python, lengths, folder, rounds))
    return figures
