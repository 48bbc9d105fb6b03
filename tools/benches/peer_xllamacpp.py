"""llama.cpp in process (xllamacpp), one thread: tokens per CPU second of prefill and decode.

Prefill is a prompt of 512 random tokens and one answer token; decode is the difference between an
answer of 129 and one of 1 token. Runs in the environment of tools/venv peers, prints
one JSON object. The best of three counts, as the least disturbed.
"""

import json
import os
import sys
import time

import numpy
import xllamacpp

PROMPT, ANSWER, REPEATS = 512, 128, 3


def server(model):
    params = xllamacpp.CommonParams()
    params.model.path = os.path.abspath(model)
    params.n_ctx, params.n_batch, params.n_ubatch, params.n_parallel = 1024, PROMPT, PROMPT, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_prompt = False
    return xllamacpp.Server(params)


def cpu_seconds(llama, prompt, tokens):
    request = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "top_k": 1,
               "ignore_eos": True, "cache_prompt": False}
    start = time.process_time()
    llama.handle_completions(request)
    return time.process_time() - start


def main(model):
    llama = server(model)
    prompt = [int(token) for token in numpy.random.default_rng(0).integers(10, 49000, PROMPT)]
    cpu_seconds(llama, prompt, 1)  # warm-up: pages and caches
    prefill = min(cpu_seconds(llama, prompt, 1) for _ in range(REPEATS))
    whole = min(cpu_seconds(llama, prompt, ANSWER + 1) for _ in range(REPEATS))
    result = {"prefill512_tok_per_cpu_s": PROMPT / prefill,
              "decode128_tok_per_cpu_s": ANSWER / (whole - prefill)}
    print("\n" + json.dumps(result), flush=True)
    os._exit(0)  # the server's threads do not end by themselves


if __name__ == "__main__":
    main(sys.argv[1])
