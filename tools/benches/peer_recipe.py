"""The reference (deepseek-recipe) and HF tokenizers on one thread, in CPU time.

  peer_recipe.py encode TOKENIZER.json BODY.json REPEATS
  peer_recipe.py stream TOKENIZER.json ANSWERS.json REPEATS   ANSWERS: {"text": ..., "tool": ...}

Runs in the environment of tools/venv recipe-peers and prints one JSON object, with the members of
bench_recipe_encode or bench_recipe_stream as far as they apply; hf_cpu_s is the faster of two ways to
encode the message's text alone. Times are the best of the repeats, as the least disturbed. It keeps
to one CPU, as ours. Stream events are left as the reference's objects, which is its fastest way.
"""

import json
import os
import pathlib
import statistics
import struct
import sys
import time

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import deepseek_recipe as reference  # noqa: E402  (both read the environment when they start)
import tokenizers  # noqa: E402


def cpu_times(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return times


def digest(ids):
    """FNV-1a of the ids as 32-bit little-endian numbers."""
    value = 0xCBF29CE484222325
    for byte in struct.pack(f"<{len(ids)}I", *ids):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def encode(tokenizer_file, body_file, repeats):
    body = pathlib.Path(body_file).read_bytes()
    encoding = reference.DeepseekV4Encoding().with_tokenizer(
        reference.Tokenizer.from_file(tokenizer_file))
    options = reference.ConversionOptions()

    def convert():
        return reference.ChatCompletionRequest(body).convert(options).conversation

    def request():
        return encoding.encode(convert())

    ids = list(request())
    times = cpu_times(request, repeats)
    content = json.loads(body)["messages"][-1]["content"]
    other = tokenizers.Tokenizer.from_file(tokenizer_file)
    hf = [min(cpu_times(function, repeats)) for function in (
        lambda: other.encode(content, add_special_tokens=False),
        lambda: other.encode_batch_fast([content], add_special_tokens=False))]
    return {"request_cpu_s": min(times), "request_p50_s": statistics.median(times),
            "hf_cpu_s": min(hf), "hf_bytes": len(content.encode()),
            "prompt_bytes": len(encoding.render_conversation(convert()).prompt.encode()),
            "tokens": len(ids), "digest": digest(ids)}


REQUEST = json.dumps({
    "model": "DeepSeek-V4-Pro", "stream": True, "messages": [{"role": "user", "content": "x"}],
    "tools": [{"type": "function", "function": {"name": "tide"}}]})


def stream(tokenizer_file, answers_file, repeats):
    """Parses both answers one token a push; the ids go to ours, so that both read the same."""
    tokenizer = reference.Tokenizer.from_file(tokenizer_file)
    answers = json.loads(pathlib.Path(answers_file).read_text(encoding="utf-8"))
    result = {}
    for name, text in answers.items():
        ids = list(tokenizer.encode(text))

        def parse():
            request = reference.ChatCompletionRequest(REQUEST).convert(reference.ConversionOptions())
            processor = reference.StreamProcessor(
                reference.ChatCompletionRequest.chunk_generator(request, "i", "m"),
                request.parsing_options, tokenizer)
            processor.push(reference.InferenceChunk.ready())
            for token in ids:
                processor.push(reference.InferenceChunk.tokens([token]))
            stop = reference.InferenceFinishReason.Stop
            processor.push(reference.InferenceChunk.finish(stop))

        result[name] = ids
        result[f"{name}_split1_cpu_tok_per_s"] = len(ids) / min(cpu_times(parse, repeats))
    return result


def main():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    name, tokenizer_file, body_file, repeats = sys.argv[1:5]
    print("\n" + json.dumps({"encode": encode, "stream": stream}[name](tokenizer_file, body_file, int(repeats))))


if __name__ == "__main__":
    main()
