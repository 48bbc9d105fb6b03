"""Vidur on the lengths of a trace: CPU time and what came out of it, as JSON.

    peer_vidur.py LENGTHS.csv REPLICAS REQUESTS RATE

Sarathi's scheduler, fewest outstanding requests, Poisson arrivals. Its package holds no profiles of
kernels, so that its predictor is replaced by 8 ms and 0.02 ms a token of a batch: this measures the
core of the simulator. For tools/bench simulate, in the environment simulate-vidur of tools/venv.
"""

import json
import os
import sys
import tempfile
import time

from vidur._native.entities import ExecutionTime
from vidur.config import SimulationConfig
from vidur.execution_time_predictor import base_execution_time_predictor as base
from vidur.execution_time_predictor import sklearn_execution_time_predictor as sklearn
from vidur.simulator import Simulator
from vidur.utils.random import set_seeds

LAYERS = 32
FIRST_MS, TOKEN_MS = 8.0, 0.02
CHUNK, ROWS, CONTEXT = 1024, 128, 8192


def start(predictor, predictor_config, replica_config, cache_config):
    base.BaseExecutionTimePredictor.__init__(predictor, predictor_config, replica_config,
                                             cache_config)


def layer_time(_, batch, __):
    """A layer's part, all of it as if it were the fourth of its operators."""
    ms = (FIRST_MS + TOKEN_MS * sum(batch.num_q_tokens)) / LAYERS
    return ExecutionTime(LAYERS, 0.0, 0.0, 0.0, ms, *[0.0] * 10)


def flags(lengths, replicas, requests, rate):
    given = {
        "cluster_config_num_replicas": replicas,
        "replica_config_num_pipeline_stages": 1,
        "replica_config_tensor_parallel_size": 1,
        "request_generator_config_type": "synthetic",
        "synthetic_request_generator_config_num_requests": requests,
        "length_generator_config_type": "trace",
        "trace_request_length_generator_config_trace_file": lengths,
        "trace_request_length_generator_config_max_tokens": CONTEXT,
        "interval_generator_config_type": "poisson",
        "poisson_request_interval_generator_config_qps": rate,
        "global_scheduler_config_type": "lor",
        "replica_scheduler_config_type": "sarathi",
        "sarathi_scheduler_config_batch_size_cap": ROWS,
        "sarathi_scheduler_config_chunk_size": CHUNK,
    }
    return [part for name, value in given.items() for part in ("--" + name, str(value))]


def main():
    lengths, replicas, requests, rate = sys.argv[1:5]
    sklearn.SklearnExecutionTimePredictor.__init__ = start
    base.BaseExecutionTimePredictor.get_execution_time = layer_time
    lengths = os.path.abspath(lengths)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # it writes its configuration there
        sys.argv = ["vidur", *flags(lengths, replicas, requests, rate),
                    "--no-metrics_config_write_metrics"]
        config = SimulationConfig.create_from_cli_args()
        set_seeds(config.seed)
        begin = time.process_time()
        simulator = Simulator(config)
        simulator.run()
        spent = time.process_time() - begin
        os.chdir("/")
    print(json.dumps({"requests": int(requests), "cpu_s": spent, "duration_s": simulator._time}))


if __name__ == "__main__":
    main()
