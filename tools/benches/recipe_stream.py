"""Recipe: small requests with tools, and stream parsing, against the reference in the same run."""

import json
import pathlib
import subprocess
import tempfile

from tools.benches.figure import Figure, Missing, from_rounds, run_json
from tools.benches.recipe_text import text, tools_body

PEER = "tools/benches/peer_recipe.py"
DSML = "｜DSML｜"
REPEATS = {False: ("2000", "1000", "5"), True: ("300", "200", "2")}  # ours, the peer's, of streams


def answers():
    """Two answers of about 22,000 and 20,000 tokens: reasoning and text; a call with a long string."""
    call = (f'r</think>\n\n<{DSML}tool_calls>\n<{DSML}invoke name="tide">\n'
            f'<{DSML}parameter name="s" string="true">{text(80_000, 7)}</{DSML}parameter>\n'
            f'</{DSML}invoke>\n</{DSML}tool_calls>')
    return {"text": text(40_000, 5) + "</think>" + text(40_000, 6), "tool": call}


def figures(bench, python, tokenizer, pack):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tools.json").write_text(tools_body(), encoding="utf-8")
        (folder / "answers.json").write_text(json.dumps(answers()), encoding="utf-8")
        yield from against_reference(bench, python, tokenizer, pack, folder)
    yield from memory(bench)


def against_reference(bench, python, tokenizer, pack, folder):
    names = ("recipe.tools_request_vs_reference", "recipe.stream_text_vs_reference",
             "recipe.stream_args_vs_reference")
    if python is None:
        for name, target in zip(names, (5, 3, 3)):
            yield Figure(name, None, "", target, why="the peers are not installed: --install-peers")
        return
    own, peers, streams = REPEATS[bench.quick]
    peer = [python, str(bench.root / PEER)]
    ours, theirs = [], []
    for _ in range(1 if bench.quick else 3):
        body = str(folder / "tools.json")
        mine = run_json([bench.program("bench_recipe_encode"), tokenizer, pack, body,
                         "--repeats", own])
        other = run_json([*peer, "encode", tokenizer, body, peers])
        if mine["digest"] != other["digest"]:
            raise Missing(f"the ids differ: ours {mine}, the reference's {other}")
        other |= run_json([*peer, "stream", tokenizer, str(folder / "answers.json"), streams])
        ids = {"tokenizer": tokenizer, "text": other["text"], "tool": other["tool"]}
        (folder / "ids.json").write_text(json.dumps(ids), encoding="utf-8")
        quick = ["--quick"] if bench.quick else []
        mine |= run_json([bench.program("bench_recipe_stream"), *quick, str(folder / "ids.json")])
        ours.append(mine)
        theirs.append(other)
    per_second = [[1 / one["request_p50_s"] for one in side] for side in (ours, theirs)]
    yield from_rounds(names[0], "requests/CPU-s", 5, *per_second)
    for name, kind in zip(names[1:], ("text", "tool")):
        key = f"{kind}_split1_cpu_tok_per_s"
        yield from_rounds(name, "tok/CPU-s", 3, *[[one[key] for one in side]
                                                  for side in (ours, theirs)])


def memory(bench):
    """Both come from the program that counts every allocation."""
    run = subprocess.run([bench.program("test_recipe_stream_memory")], stdout=subprocess.PIPE,
                         text=True, check=False)
    values = {}
    for line in run.stdout.splitlines():
        if line.startswith("recipe.parser_"):
            name, value = line.split()
            values[name] = max(float(value), values.get(name, 0))
    for name, unit, target in (("recipe.parser_bytes", "bytes", 2048),
                               ("recipe.parser_allocs_per_token", "allocations", 0)):
        why = "" if run.returncode == 0 else "test_recipe_stream_memory failed"
        value = values.get(name) if run.returncode == 0 else None
        yield Figure(name, value, unit, target, at_most=True, ours=value, why=why)
