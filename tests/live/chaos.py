"""Chaos: clients that leave, lie, stammer and dawdle; afterwards nothing may be held by anybody.

  chaos.py [--requests 2000] [--seed 1] [--processes 1|2] [--keys]

Each request is drawn from the seed (chaos_requests.py): any of the four protocols, streamed or
whole; bodies that are cut, no UTF-8, no JSON, of wrong types, wrongly chunked; slow readers and slow
writers; clients that leave at a random byte of the request or of the answer, with a close or a
reset. With --processes 2 the ranks are in a second process that joins the first; with --keys the
node asks for keys. Afterwards: each answer that was whole was well-formed, no request actor, no
block, no body byte and no connection is held, memory is flat, and the node still answers.
"""

import argparse
import asyncio
import collections
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from chaos_requests import Exchange
from node import Node, Scripts, free_port, troupe

CONCURRENCY = 32
FIXED_ACTORS = {"node", "gateway", "streams", "responses", "rank", "endpoint", "link"}
FINE = {"left", "refused", "bad", "done"}


def make_scripts():
    scripts = Scripts()
    scripts.text("quick", "a quick answer")
    scripts.text("paced", "", delay_ms=5, pieces=[f"word{i} " for i in range(30)])
    scripts.text("long", "z" * 20_000)
    scripts.add("mute", [], "stall")
    return scripts


def make_key():
    """A key for clients and its entry for the node."""
    lines = troupe("keys", "new", "chaos").stdout.splitlines()
    return lines[1].strip(), lines[3].strip()


async def storm(port, requests, seed, key):
    counts = collections.Counter()
    wrong = []
    gate = asyncio.Semaphore(CONCURRENCY)

    async def guarded(index):
        async with gate:
            exchange = Exchange(random.Random(seed * 1_000_003 + index), key)
            seen = await exchange.play(port)
            counts[seen if seen in FINE else "wrong"] += 1
            if seen not in FINE:
                wrong.append(f"request {index}, {exchange.path}: {seen}\n  {exchange.bytes[:300]!r}")

    await asyncio.gather(*(guarded(index) for index in range(requests)))
    return counts, wrong


def actors_left(node):
    status, text = node.get("/admin/actors", port=node.admin_port)
    return [actor["kind"] for actor in json.loads(text)["actors"]
            if actor["kind"] not in FIXED_ACTORS]


def check_released(nodes):
    """Nothing is held: requests, rows, blocks, bodies, connections."""
    gateway = nodes[0]
    gateway.wait_until(lambda: gateway.metric("troupe_requests_live") == 0, 5, "requests released")
    if len(nodes) == 1:
        gateway.wait_idle()
    for one in nodes:
        one.wait_until(lambda: not actors_left(one), 5, f"actors left: {actors_left(one)}")
    # The one connection is that of the reader of metrics.
    gateway.wait_until(lambda: gateway.metric("troupe_http_connections") <= 1, 5, "connections closed")
    gateway.wait_until(lambda: gateway.metric("troupe_http_body_bytes") == 0, 5, "bodies released")
    for one in nodes[1:]:
        check_rank_released(one)


def check_rank_released(node):
    status, text = node.get("/admin/actors", port=node.admin_port)
    rank = next(a["id"] for a in json.loads(text)["actors"] if a["kind"] == "rank")
    node.wait_until(
        lambda: "blocks=0/" in node.get("/admin/actors/" + rank, port=node.admin_port)[1],
        5, "blocks released at the second process")
    metrics = node.get("/metrics", port=node.admin_port)[1]
    orphaned = [line for line in metrics.splitlines()
                if line.startswith("troupe_kv_blocks_orphaned")]
    assert all(float(line.rsplit(" ", 1)[1]) == 0 for line in orphaned), orphaned


def start(options, scripts, entry):
    arguments = scripts.arguments() + ["--log-level", "warn", "--keepalive-timeout", "3s"]
    gateway = ["--api-keys", entry] if entry else []
    if options.processes == 1:
        return [Node(arguments + gateway)]
    address = f"127.0.0.1:{free_port()}"
    return [Node(arguments + gateway + ["--roles", "gateway", "--cluster-listen", address]),
            Node(arguments + ["--roles", "rank", "--join", address], gateway=False)]


def run(options, nodes, key):
    node = nodes[0].wait_ready()
    began = time.monotonic()
    # The first storm warms caches and pools; memory must stay flat from there on.
    asyncio.run(storm(node.port, options.requests // 4, options.seed + 1, key))
    check_released(nodes)
    before = [one.rss_mib() for one in nodes]
    counts, wrong = asyncio.run(storm(node.port, options.requests, options.seed, key))
    assert not wrong, f"{len(wrong)} of {options.requests} went wrong:\n" + "\n".join(wrong[:5])
    check_released(nodes)
    after = [one.rss_mib() for one in nodes]
    print("outcomes:", dict(sorted(counts.items())), f"in {time.monotonic() - began:.0f} s")
    print("memory MiB before and after:", [round(x) for x in before], [round(x) for x in after])
    assert counts["done"] > options.requests // 10, counts
    assert counts["bad"] > options.requests // 100, counts
    for low, high in zip(before, after):
        assert high < low + 16 + 0.1 * low, (before, after)
    assert node.get("/ready")[0] == 200


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--keys", action="store_true")
    options = parser.parse_args()
    again = f"tests/live/run chaos.py --requests {options.requests} --seed {options.seed} " \
            f"--processes {options.processes}" + (" --keys" if options.keys else "")
    print("chaos:", again, flush=True)
    scripts = make_scripts()
    key, entry = make_key() if options.keys else (None, None)
    nodes = start(options, scripts, entry)
    try:
        run(options, nodes, key)
    except BaseException:
        print(f"chaos: failed with seed {options.seed}; again: {again}", flush=True)
        raise
    finally:
        codes = [one.stop() for one in nodes if one.process.poll() is None]
        scripts.close()
    assert all(code == 0 for code in codes), codes
    print("chaos: ok")


if __name__ == "__main__":
    main()
