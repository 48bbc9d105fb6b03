"""Recipe: requests to token ids against the reference and HF tokenizers, CPU time, one thread.

Rounds alternate between the two, so that other load on the machine meets both. Both sides read the
same tokenizer file and the same request, and must make the same ids.
"""

import os
import pathlib
import tempfile

from tools.benches import recipe_stream
from tools.benches.figure import Figure, Missing, from_rounds, from_values, run_json
from tools.benches.recipe_text import chat_body, text

PEER = "tools/benches/peer_recipe.py"
LONG_BYTES, SEED = 430_000, 1
REPEATS = {False: "5", True: "2"}  # by --quick; the same for both, of these the best counts


def run(bench):
    python = bench.peer_python("recipe-peers")
    with tempfile.TemporaryDirectory() as folder:
        body = pathlib.Path(folder) / "long.json"
        body.write_text(chat_body(text(LONG_BYTES, SEED)), encoding="utf-8")
        ours, peers, missing = rounds(bench, python, body)
    files = pulled("tokenizer.json"), pulled("prompt_pack.json")
    return [*encode_figures(ours, peers, missing), *recipe_stream.figures(bench, python, *files)]


def pulled(name):
    cache = os.environ.get("TROUPE_CACHE") or pathlib.Path.home() / ".cache/troupe"
    path = pathlib.Path(cache) / "models/deepseek-v4" / name
    if not path.exists():
        raise Missing(f"no {path}: build/release/bin/troupe model pull deepseek-v4")
    return str(path)


def rounds(bench, python, body):
    """What each round measured, ours and the peer's, and why the peer did not, if so."""
    program = bench.program("bench_recipe_encode")
    tokenizer, pack = pulled("tokenizer.json"), pulled("prompt_pack.json")
    repeats = REPEATS[bench.quick]
    ours, peers, missing = [], [], ""
    if python is None:
        missing = "the peers are not installed: --install-peers"
    for _ in range(1 if bench.quick else 3):
        ours.append(run_json([program, tokenizer, pack, str(body), "--repeats", repeats]))
        if missing:
            continue
        try:
            peers.append(run_json([python, str(bench.root / PEER), "encode", tokenizer, str(body),
                                   repeats]))
            if peers[-1]["digest"] != ours[-1]["digest"]:
                raise Missing(f"the ids differ: ours {ours[-1]}, the reference's {peers[-1]}")
        except Missing as failure:
            missing = str(failure)
    return ours, peers, missing


def encode_figures(ours, peers, missing):
    def speeds(results, seconds, size):
        return [one[size] / 1e6 / one[seconds] for one in results]

    def against(name, peer_seconds, peer_size):
        own = speeds(ours, "request_cpu_s", "prompt_bytes")
        if missing:
            return Figure(name, None, "MB/CPU-s", 4, ours=max(own), why=missing)
        return from_rounds(name, "MB/CPU-s", 4, own, speeds(peers, peer_seconds, peer_size))

    return [
        against("recipe.encode_vs_reference", "request_cpu_s", "prompt_bytes"),
        against("recipe.encode_vs_hf", "hf_cpu_s", "hf_bytes"),
        from_values("recipe.encode_scaling_2", "x", 1.7, [one["scaling_2"] for one in ours]),
    ]
