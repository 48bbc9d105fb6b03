"""Soak: a real model under load for minutes, then simulated faults over many seeds.

  soak.py [--minutes 10] [--seeds 20]

A gateway with a scripted rank, then a real model: no failed request, memory flat after the first
minute, nothing held afterwards. The
simulations: every scenario keeps its expectations with every seed; a failure prints its replay.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from node import SOURCE, Node, Scripts, troupe

WARM_SECONDS = 60
GROWTH_MIB = 16


def load(node, seconds, *more):
    """Requests of one stretch of traffic; some of its clients leave."""
    run = troupe("traffic", "--url", f"http://127.0.0.1:{node.port}", "--num-requests", "0",
                 "--duration", str(seconds), "--isl", "60", "--isl-stddev", "30", "--cancel-rate",
                 "0.1", "--cancel-delay", "0.5", "--json", *more, timeout=seconds + 120)
    if run.returncode != 0:
        raise AssertionError(f"traffic ended with {run.returncode}: {run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def soak_node(name, node, minutes, *more):
    try:
        node.wait_ready()
        load(node, WARM_SECONDS, *more)
        before = node.rss_mib()
        report = load(node, minutes * 60, *more)
        node.wait_idle()
        after = node.rss_mib()
        print(f"{name}: {report['ok']} answers, {report['cancelled']} clients left, memory "
              f"{before:.0f} -> {after:.0f} MiB", flush=True)
        assert report["failed"] == 0, report["errors"]
        assert after < before + GROWTH_MIB, "memory grows"
    finally:
        code = node.stop()
    assert code == 0, code


def soak_gateway(minutes):
    """50 requests a second of about a second each: the front door's memory, not an engine's."""
    scripts = Scripts()
    scripts.text("talk", "", pieces=["word "] * 20, delay_ms=50)
    try:
        node = Node([*scripts.arguments(), "--log-level", "warn"])
        soak_node("gateway", node, minutes, "--model", "script/talk", "--request-rate", "50")
    finally:
        scripts.close()


def soak_model(minutes):
    node = Node(["--model", "smollm2", "--log-level", "warn"])
    soak_node("model", node, minutes, "--concurrency", "6", "--osl", "24")


def soak_simulation(seeds):
    folder = os.path.join(SOURCE, "tests/simulation")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".yaml"))
    for name in names:
        for seed in range(1000, 1000 + seeds):
            run = troupe("simulate", "--scenario", os.path.join(folder, name), "--seed", str(seed),
                         "--explore", timeout=300)
            assert run.returncode == 0, f"{name}, seed {seed}: {run.stderr}"
    print(f"simulation: {len(names)} scenarios with {seeds} seeds each")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    soak_gateway(options.minutes)
    soak_simulation(options.seeds)
    soak_model(options.minutes)
    print("soak: ok")


if __name__ == "__main__":
    main()
