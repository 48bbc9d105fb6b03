"""Dynamo's offline replay of a trace: CPU time and what came out of it, as JSON.

    peer_dynamo.py TRACE WORKERS SPEED

Aggregated workers, its default step times, round robin (the router that costs it least); limits as
bench_engines has them. For tools/bench simulate, in the environment simulate-dynamo of tools/venv.
"""

import json
import sys
import time

from dynamo import _core

ENGINE = {"num_gpu_blocks": 2048, "block_size": 512, "max_num_batched_tokens": 8192,
          "max_num_seqs": 256}


def main():
    trace, workers, speed = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    engine = _core._normalize_mocker_config({"engine": ENGINE})
    begin = time.process_time()
    result = _core.run_mocker_trace_replay([trace], extra_engine_args=engine, num_workers=workers,
                                           router_mode="round_robin",
                                           arrival_speedup_ratio=speed,
                                           trace_block_size=ENGINE["block_size"])
    spent = time.process_time() - begin
    told = result.summary
    print(json.dumps({
        "requests": told["completed_requests"], "cpu_s": spent,
        "duration_s": told["duration_ms"] / 1e3, "tokens": told["total_output_tokens"],
        "ttft_ms": told["mean_ttft_ms"], "tpot_ms": told["mean_tpot_ms"],
        "e2e_ms": told["mean_e2e_latency_ms"]}))


if __name__ == "__main__":
    main()
