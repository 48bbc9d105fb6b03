"""Gateway: CPU time a request and a chunk against routers, open streams, added time to first token.

Ours is a gateway process with a scripted rank in a process of its own behind a link. The routers
stand in front of bench_gateway_worker. All are measured in turn, round by round, by the same client
(bench_gateway_load); CPU is user and system time of the gateway's processes, as /proc tells.
"""

import statistics
from concurrent.futures import ThreadPoolExecutor

from tools.benches.figure import Figure, Missing, from_rounds, from_values
from tools.benches.gateway_servers import (Nginx, SglangRouter, Smg, Troupe, TroupeNode, Worker,
                                            load)

JSON_CONNECTIONS = 64
PACED_STREAMS, PACE_MS, CHUNKS = 64, 20, 200
OPEN_STREAMS = 10_000
MICRO = 1e6


def run(bench):
    rounds = 1 if bench.quick else 3
    seconds = "2" if bench.quick else "5"
    figures = []
    with Worker(bench) as worker, Troupe(bench) as ours:
        peers = start_peers(bench, worker)
        try:
            figures += json_figures(bench, ours, peers, rounds, seconds)
            figures += added_figures(bench, ours, worker, seconds)
        finally:
            for peer in peers.values():
                if not isinstance(peer, Missing):
                    peer.stop()
    figures += paced_figures(bench, rounds)
    figures += stream_figures(bench)
    return figures


def start_peers(bench, worker):
    """Name → a running router, or why there is none."""
    def start(kind):
        try:
            return kind(bench, worker.port).start()
        except Missing as failure:
            return failure

    return {kind.name: start(kind) for kind in (SglangRouter, Smg, Nginx)}


def cpu_a_request(bench, server, seconds, **options):
    before = server.cpu_seconds()
    result = load(bench, server.port, server.model("json"), seconds=seconds,
                  connections=str(JSON_CONNECTIONS), **options)
    if result["errors"] or not result["requests"]:
        raise Missing(f"{server.name}: {result['errors']} errors, {result['requests']} answers")
    return (server.cpu_seconds() - before) * MICRO / result["requests"]


def json_figures(bench, ours, peers, rounds, seconds):
    costs = {"ours": [], **{name: [] for name in peers}}
    for server in (ours, *peers.values()):  # warm
        if not isinstance(server, Missing):
            cpu_a_request(bench, server, "1")
    for _ in range(rounds):
        costs["ours"].append(cpu_a_request(bench, ours, seconds))
        for name, peer in peers.items():
            if not isinstance(peer, Missing):
                costs[name].append(cpu_a_request(bench, peer, seconds))
    targets = {"sglang_router": 1.5, "smg": 2, "nginx": 0.4}
    figures = []
    for name, target in targets.items():
        figure = "gateway.json_cpu_vs_" + name
        if isinstance(peers[name], Missing):
            figures.append(Figure(figure, None, "us/request", target, why=str(peers[name]),
                                  ours=statistics.median(costs["ours"])))
            continue
        # The gain: the peer's cost over ours.
        gain = from_rounds(figure, "us/request", target, costs[name], costs["ours"])
        gain.ours, gain.peer = gain.peer, gain.ours
        figures.append(gain)
    return figures


def added_figures(bench, linked, worker, seconds):
    """Time to the first byte of a node at idle, beside a bare server's; and with a link between."""
    def first(server, quantile):
        result = load(bench, server.port, server.model("json"), seconds=seconds, connections="1",
                      stream="1")
        return result["first_us_" + quantile] / 1e3

    added, over_link, ours_p99, bare_p99 = [], [], [], []
    with TroupeNode(bench) as node:
        for _ in range(3):
            bare = first(worker, "p50")
            added.append(first(node, "p50") - bare)
            over_link.append(first(linked, "p50") - bare)
            ours_p99.append(first(node, "p99"))
            bare_p99.append(first(worker, "p99"))
    figure = from_values("gateway.added_ttft_p50_ms", "ms", 0.3, added, at_most=True)
    figure.why = (f"p99 {statistics.median(ours_p99):.2f} ms, a bare server's "
                  f"{statistics.median(bare_p99):.2f} ms; with the rank in another process, behind a "
                  f"link, {statistics.median(over_link):.2f} ms are added")
    return [figure]


def cpu_a_chunk(bench, server):
    before = server.cpu_seconds()
    result = load(bench, server.port, server.model("paced"), connections=str(PACED_STREAMS),
                  stream="1", once="1", seconds=str(CHUNKS * PACE_MS // 1000 + 5))
    if result["errors"] or not result["chunks"]:
        raise Missing(f"{server.name}: {result['errors']} errors, {result['chunks']} chunks")
    return (server.cpu_seconds() - before) * MICRO / result["chunks"]


def paced_figures(bench, rounds):
    """One chunk every 20 ms a stream, so that nothing can be merged."""
    name, ours, peers, missing = "gateway.sse_cpu_vs_sglang_router", [], [], ""
    with Worker(bench, CHUNKS, PACE_MS) as worker, Troupe(bench) as server:
        try:
            router = SglangRouter(bench, worker.port).start()
        except Missing as failure:
            router, missing = None, str(failure)
        try:
            for _ in range(rounds):
                ours.append(cpu_a_chunk(bench, server))
                if router:
                    peers.append(cpu_a_chunk(bench, router))
        finally:
            if router:
                router.stop()
    if missing:
        return [Figure(name, None, "us/chunk", 1, ours=statistics.median(ours), why=missing)]
    gain = from_rounds(name, "us/chunk", 1, peers, ours)
    gain.ours, gain.peer = gain.peer, gain.ours
    return [gain]


def open_streams(bench, rate, tokens):
    """10,000 streams at once, each of `rate` tokens a second: the client's result, memory in KB."""
    with Troupe(bench, ranks=3) as server:
        idle = server.rss_kb()
        with ThreadPoolExecutor() as pool:
            running = pool.submit(
                load, bench, server.port, server.model(f"rate{rate}"),
                connections=str(OPEN_STREAMS), stream="1", once="1",
                seconds=str(3 * tokens // rate + 60), max_tokens=str(tokens))
            most = idle
            while not running.done():
                most = max(most, server.rss_kb())
                server.wait(0.2)
            return running.result(), idle, most


def stream_figures(bench):
    """10,000 streams open at once, each of them a token a second; then faster ones."""
    tokens = 10 if bench.quick else 30
    result, idle, most = open_streams(bench, 1, tokens)
    lost = OPEN_STREAMS * tokens - (result["chunks"] - 2 * OPEN_STREAMS)
    errors = Figure("gateway.streams_10k_errors", result["errors"], "streams", 0, at_most=True,
                    ours=result["errors"])
    errors.why = f"{result['requests']} streams ended, {max(lost, 0)} tokens did not come"
    for rate in () if bench.quick else (2, 5, 10):
        faster, _, _ = open_streams(bench, rate, tokens)
        got = tokens / (faster["latency_us_p50"] / MICRO)
        errors.why += f"; asked for {rate}/s: {faster['errors']} errors, {got:.1f} tokens/s a stream"
    rss = Figure("gateway.rss_per_stream_kb", (most - idle) / OPEN_STREAMS, "KB", 20, at_most=True,
                 ours=most / 1024, why=f"{idle / 1024:.0f} MiB idle, {most / 1024:.0f} MiB at most")
    return [errors, rss]
