"""Writes tables of schema troupe-timing-1 (runtime/simulation/timing_table.hpp)."""

import argparse
import json
import logging
import os
import sys
import time
from importlib.metadata import version

import numpy

sys.path.insert(0, os.path.dirname(__file__))
from engine import Phase
from grid import FINE, each, held_out_error, interpolate
from presets import PRESETS

from aiconfigurator_core.sdk.backends.factory import get_backend

PACKAGE = "aiconfigurator-core"
GIB = 2**30
# Points between the grid's, and one below it, for readers to check themselves with.
PREFILL_VECTORS = ([1, 5000, 30000], [3, 1500, 700], [1, 30, 0])
DECODE_VECTORS = ([50, 100000], [384, 131072])


def fill(points, function):
    """Five digits of function at each point of planes of rows."""
    return [[[float(f"{function(*point):.5g}") for point in row] for row in plane]
            for plane in points]


def phase_table(phase, balanced, points):
    """balanced: the same with an even load of the experts; None where that is not asked for."""
    table = {"step_ms": fill(points, phase.total)}
    for name, function in phase.parts().items():
        table[name] = fill(points, function)
    table["imbalance_ms"] = None
    if phase.moe_tokens and balanced:  # what uneven experts cost
        table["imbalance_ms"] = fill(
            points, lambda *point: phase.total(*point) - balanced.total(*point))
    table["mark"] = [["".join(phase.mark(*point) for point in row) for row in plane]
                     for plane in points]
    return table


def memory_of(phase, preset, tokens):
    usage = get_backend(preset.backend)._get_memory_usage(
        phase.model, phase.database, 1, 1, 1024, 1, num_tokens=tokens)
    return {name + "_bytes": int(usage[name] * GIB)
            for name in ("weights", "activations", "nccl", "others")}


def vectors_of(phase, axes, values, points):
    axes = list(axes.values())
    return [{"phase": phase, "point": point,
             "expected_ms": round(interpolate(axes, values, point), 4)} for point in points]


def provenance_of(preset, prefill, decode):
    modes = {name: getattr(prefill.config, name + "_quant_mode")
             for name in ("gemm", "moe", "kvcache", "fmha")}
    return {
        "package": f"{PACKAGE} {version(PACKAGE)}", "licence": "Apache-2.0",
        "system": preset.system, "backend": preset.backend,
        "backend_version": prefill.database.version, "database_mode": "SILICON",
        "expert_load": "power_law 1.01", "options": preset.options,
        "quantisation": {name: getattr(mode, "name", None) for name, mode in modes.items()},
        "tables": sorted({*prefill.sources, *decode.sources}),
        "moe_tokens_measured": [prefill.moe_tokens, decode.moe_tokens],
    }


def kv_of(decode, node, contexts):
    sizes = [int(decode.model.get_kvcache_bytes_per_sequence(context)) for context in contexts]
    return {"context": contexts, "bytes_per_request": sizes,
            "transfer_ms": [round(1e3 * (node["p2p_latency"] + size / node["inter_node_bw"]), 4)
                            for size in sizes]}


def errors_of(prefill, prefill_ms, decode, decode_ms, grid):
    return {
        "prefill": held_out_error([grid.new_tokens, grid.prefix], prefill_ms[0],
                                  lambda q, c: prefill.total(1, q, c), grid.held_out),
        "prefill_batched": held_out_error(
            list(grid.prefill_axes.values()), prefill_ms,
            lambda n, q, c: prefill.total(n, each(n, q), c), grid.held_out),
        "decode": held_out_error([grid.batch, grid.context], decode_ms,
                                 lambda b, c: decode.total(b, 0, c), grid.held_out),
    }


def export(name, preset, grid):
    prefill, decode = Phase(preset, "prefill"), Phase(preset, "decode")
    prefill_table = phase_table(
        prefill, Phase(preset, "prefill", "balanced") if grid.imbalance else None,
        [[[(n, each(n, q), c) for c in grid.prefix] for q in grid.new_tokens]
         for n in grid.requests])
    decode_table = phase_table(decode,
                               Phase(preset, "decode", "balanced") if grid.imbalance else None,
                               [[[(b, 0, c) for c in grid.context] for b in grid.batch]])
    decode_table = {key: value and value[0] for key, value in decode_table.items()}
    prefill_ms = numpy.array(prefill_table["step_ms"])
    decode_ms = numpy.array(decode_table["step_ms"])
    gpu, node = (prefill.database.system_spec[part] for part in ("gpu", "node"))
    return {
        "schema": "troupe-timing-1", "name": name,
        "provenance": provenance_of(preset, prefill, decode),
        "model": {"path": preset.model, "layers": prefill.model._num_layers},
        "gpu": {"memory_bytes": gpu["mem_capacity"], "memory_bytes_per_s": gpu["mem_bw"],
                "gpus_per_node": node["num_gpus_per_node"],
                "intra_node_bytes_per_s": node["intra_node_bw"],
                "inter_node_bytes_per_s": node["inter_node_bw"],
                "inter_node_latency_s": node["p2p_latency"]},
        "memory": {"prefill_16384_tokens": memory_of(prefill, preset, 16384),
                   "decode_256_tokens": memory_of(decode, preset, 256)},
        "kv": kv_of(decode, node, grid.context),
        "prefill": {"layout": prefill.layout, "axes": grid.prefill_axes, **prefill_table},
        "decode": {"layout": decode.layout, "axes": grid.decode_axes, **decode_table},
        "held_out_error": errors_of(prefill, prefill_ms, decode, decode_ms, grid),
        "test_vectors": vectors_of("prefill", grid.prefill_axes, prefill_ms, PREFILL_VECTORS)
        + vectors_of("decode", grid.decode_axes, decode_ms, DECODE_VECTORS),
    }


def write(folder, table):
    """Whole or not at all."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, table["name"] + ".json")
    with open(path + ".part", "w") as file:
        json.dump(table, file, separators=(",", ":"))
    os.replace(path + ".part", path)
    return path


def main():
    shared_cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    cache = os.environ.get("TROUPE_CACHE") or os.path.join(shared_cache, "troupe")
    parser = argparse.ArgumentParser(prog="tools/export-timing", add_help=False)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", default=os.path.join(cache, "timing"))
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        for name, preset in PRESETS.items():
            print(f"{name:32} {preset.model} on {preset.system}, {preset.backend}")
        return
    unknown = [name for name in arguments.names if name not in PRESETS]
    if unknown:
        parser.error(f"there is no preset {unknown[0]}; --list names them")
    logging.disable(logging.CRITICAL)  # the package logs each missing table that it does not need
    for name in arguments.names or PRESETS:
        started = time.time()
        path = write(arguments.out, export(name, PRESETS[name], FINE))
        print(f"{path} ({time.time() - started:.0f} s)")


if __name__ == "__main__":
    main()
