"""The texts that recipe benchmarks send: prose, code, JSON and Chinese, the same for the same seed.

They are those of the reference's own baseline (recipe/bench_oracle.py beside the SPEC), so that figures
can be compared with it.
"""

import json
import random

WORDS = (
    "the ship left harbour before dawn because every tide table said otherwise and nobody on the "
    "quay could explain why latency budget scheduler actor mailbox token stream parser cache "
    "prefix decode batch router shard replica quorum window").split()


def text(size, seed):
    """At least `size` bytes of UTF-8."""
    rng = random.Random(seed)
    pieces, have = [], 0
    while have < size:
        kind = rng.randrange(10)
        if kind == 0:
            piece = "港口今天刮大风，渡船停航。请稍后再试！\n"
        elif kind == 1:
            piece = ("def f_%d(x, y=%d):\n    return [x[i] + y for i in range(%d)]  # note\n\n"
                     % (rng.randrange(999), rng.randrange(99), rng.randrange(9999)))
        elif kind == 2:
            piece = ('{"id": %d, "name": "%s", "ok": true, "v": [%.3f, null]}\n'
                     % (rng.randrange(10**7), rng.choice(WORDS), rng.random()))
        else:
            count = rng.randrange(8, 20)
            piece = " ".join(rng.choice(WORDS) for _ in range(count)).capitalize() + ". "
        pieces.append(piece)
        have += len(piece.encode())
    return "".join(pieces)


def chat_body(content):
    """A Chat request with one user message, thinking off."""
    return json.dumps({"model": "DeepSeek-V4-Pro", "thinking": {"type": "disabled"},
                       "messages": [{"role": "user", "content": content}]}, ensure_ascii=False)


def tools_body():
    """A small Chat request with one tool: 346 tokens."""
    return json.dumps({
        "model": "DeepSeek-V4-Pro",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tide?"}],
        "tools": [{"type": "function", "function": {
            "name": "tide", "description": "d",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]})
