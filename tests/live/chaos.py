"""Chaos: clients that leave at random moments; afterwards nothing may be held by anybody.

  chaos.py [--requests 2000] [--seed 1] [--processes 1|2]

Each request plays one of several scripts and leaves at a seeded random point: never, while it sends,
while it waits, in mid-stream, with a close or a reset. With --processes 2 the ranks are in a second
process that joins the first. Afterwards: zero orphaned blocks, zero request actors, memory flat, and
the node still answers. Prints the seed; the same seed makes the same choices.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts, free_port

CONCURRENCY = 32
FIXED_ACTORS = {"node", "gateway", "streams", "responses", "rank", "endpoint", "link"}


def make_scripts():
    scripts = Scripts()
    scripts.text("quick", "a quick answer")
    scripts.text("paced", "", delay_ms=5, pieces=[f"word{i} " for i in range(30)])
    scripts.text("long", "z" * 20_000)
    scripts.add("mute", [], "stall")
    return scripts


async def one_request(node, rng):
    """One exchange; returns what was seen: done, left, refused or error."""
    model = rng.choice(["quick", "quick", "paced", "paced", "long", "mute"])
    stream = rng.random() < 0.7
    leave = rng.choice(["never", "sending", "waiting", "middle", "middle"])
    if model == "mute":
        leave = "waiting"
    body = json.dumps({"model": "script/" + model, "stream": stream,
                       "messages": [{"role": "user", "content": "x" * rng.randint(1, 3000)}]})
    request = (f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
               f"content-length: {len(body)}\r\n\r\n{body}").encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", node.port)
    try:
        if leave == "sending":
            writer.write(request[: rng.randint(1, len(request) - 1)])
            await writer.drain()
            await asyncio.sleep(rng.random() * 0.02)
            return "left"
        writer.write(request)
        await writer.drain()
        if leave == "waiting":
            await asyncio.sleep(rng.random() * 0.05)
            return "left"
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        if leave == "middle":
            await asyncio.wait_for(reader.read(rng.randint(1, 2000)), 30)
            await asyncio.sleep(rng.random() * 0.03)
            return "left"
        data = await asyncio.wait_for(reader.read(), 30)
        status = int(head.split()[1])
        if status == 503:
            return "refused"
        good = b"[DONE]" in data if stream else b'"finish_reason":"' in data
        return "done" if status == 200 and good else "error"
    except (ConnectionError, asyncio.IncompleteReadError):
        return "error"
    finally:
        if rng.random() < 0.5:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        try:
            await writer.wait_closed()
        except OSError:
            pass


async def storm(node, requests, seed):
    counts = {}
    gate = asyncio.Semaphore(CONCURRENCY)

    async def guarded(index):
        async with gate:
            seen = await one_request(node, random.Random(seed * 1_000_003 + index))
            counts[seen] = counts.get(seen, 0) + 1

    await asyncio.gather(*(guarded(index) for index in range(requests)))
    return counts


def actors_left(node):
    status, text = node.get("/admin/actors", port=node.admin_port)
    return [actor["kind"] for actor in json.loads(text)["actors"]
            if actor["kind"] not in FIXED_ACTORS]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    options = parser.parse_args()
    scripts = make_scripts()
    nodes = []
    try:
        if options.processes == 1:
            nodes.append(Node(scripts.arguments() + ["--log-level", "warn"]))
        else:
            address = f"127.0.0.1:{free_port()}"
            nodes.append(Node(scripts.arguments() + [
                "--log-level", "warn", "--roles", "gateway", "--cluster-listen", address]))
            nodes.append(Node(scripts.arguments() + [
                "--log-level", "warn", "--roles", "rank", "--join", address], gateway=False))
        node = nodes[0].wait_ready()
        print(f"chaos: seed {options.seed}, {options.processes} process(es)", flush=True)
        # The first storm warms caches and pools; memory must stay flat from there on.
        asyncio.run(storm(node, options.requests // 4, options.seed + 1))
        node.wait_until(lambda: node.metric("troupe_requests_live") == 0, 5, "released (warm-up)")
        before = [one.rss_mib() for one in nodes]
        counts = asyncio.run(storm(node, options.requests, options.seed))
        node.wait_until(lambda: node.metric("troupe_requests_live") == 0, 5, "requests released")
        if options.processes == 1:
            node.wait_idle()
        node.wait_until(lambda: not actors_left(node), 5, f"actors left: {actors_left(node)}")
        for one in nodes[1:]:
            one.wait_until(lambda: not actors_left(one), 5, f"actors left: {actors_left(one)}")
            status, text = one.get("/admin/actors", port=one.admin_port)
            rank = next(a["id"] for a in json.loads(text)["actors"] if a["kind"] == "rank")
            one.wait_until(
                lambda: "blocks=0/" in one.get("/admin/actors/" + rank, port=one.admin_port)[1],
                5, "blocks released at the second process")
            metrics = one.get("/metrics", port=one.admin_port)[1]
            orphaned = [line for line in metrics.splitlines()
                        if line.startswith("troupe_kv_blocks_orphaned")]
            assert all(float(line.rsplit(" ", 1)[1]) == 0 for line in orphaned), orphaned
        after = [one.rss_mib() for one in nodes]
        print("outcomes:", dict(sorted(counts.items())))
        print("memory MiB before and after:", [round(x) for x in before], [round(x) for x in after])
        assert counts.get("error", 0) == 0, counts
        assert counts.get("done", 0) > options.requests // 10, counts
        for low, high in zip(before, after):
            assert high < low + 16 + 0.1 * low, (before, after)
        assert node.chat("script/quick")[0] == 200
    finally:
        codes = [one.stop() for one in nodes if one.process.poll() is None]
        scripts.close()
    assert all(code == 0 for code in codes), codes
    print("chaos: ok")


if __name__ == "__main__":
    main()
