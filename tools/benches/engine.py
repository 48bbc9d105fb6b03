"""Engine: forward pass against llama.cpp (the xllamacpp wheel), same GGUF file, CPU time, 1 thread.

Rounds alternate between the two, so that other load on the machine meets both. CPU time, not wall
time, for the same reason.
"""

from tools.benches.figure import Figure, Missing, from_rounds, from_values, run_json

PEER = "tools/benches/peer_xllamacpp.py"


REPEATS = "3"  # in a round, as many as the peer makes; of these the best counts on both sides


def run(bench):
    program, model = bench.program("bench_engine"), bench.model_file()
    python = bench.peer_python()
    ours, peers, missing = [], [], ""
    if python is None:
        missing = "the peer is not installed: --install-peers"
    for _ in range(1 if bench.quick else 3):
        ours.append(run_json([program, model, "--json", "--repeats", REPEATS]))
        if missing:
            continue
        try:
            peers.append(run_json([python, str(bench.root / PEER), model]))
        except Missing as failure:
            missing = str(failure)
    batch8 = [one["batch8_over_batch1"]["median"] for one in ours]
    return [
        against(ours, peers, missing, "engine.decode_vs_llamacpp", "decode128_tok_per_cpu_s"),
        against(ours, peers, missing, "engine.prefill_vs_llamacpp", "prefill512_tok_per_cpu_s"),
        from_values("engine.invariant_batch8", "x", 1.3, batch8),
    ]


def against(ours, peers, missing, name, key):
    values = [one[key]["max"] for one in ours]
    if missing:
        return Figure(name, None, "tok/CPU-s", 0.5, ours=max(values), why=missing)
    return from_rounds(name, "tok/CPU-s", 0.5, values, [one[key] for one in peers])
