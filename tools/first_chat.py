"""Sends one streamed chat to a node and prints the answer as it comes, then TTFT and tokens/s.

tools/quickstart uses it; only the standard library is needed. TTFT counts from sending the request
to the first piece of text. Tokens/s counts the tokens after the first one, as the usage block of
the stream gives them, over the time from the first to the last piece.
"""

import argparse
import http.client
import json
import sys
import time


def read_events(response):
    """The JSON objects of a stream of server-sent events, up to [DONE]."""
    for line in response:
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            return
        yield json.loads(data)


def chat(port, prompt, max_tokens, deadline_s):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=deadline_s)
    connection.request("GET", "/v1/models")
    model = json.load(connection.getresponse())["data"][0]["id"]
    body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": max_tokens,
        "temperature": 0,  # a small model wanders when it samples
    }
    sent = time.monotonic()
    connection.request("POST", "/v1/chat/completions", json.dumps(body),
                       {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.status != 200:
        raise SystemExit(f"the node answered {response.status}: {response.read(2000).decode()}")
    print(f"{model}> ", end="", flush=True)
    first = last = None
    tokens = 0
    for event in read_events(response):
        if "error" in event:
            raise SystemExit(f"\nthe stream ended with an error: {event['error']}")
        if event.get("usage"):
            tokens = event["usage"]["completion_tokens"]
        text = "".join(c["delta"].get("content") or "" for c in event.get("choices", []))
        if text:
            last = time.monotonic()
            first = first or last
            print(text, end="", flush=True)
    print()
    if first is None:
        raise SystemExit("the stream held no text")
    rate = (tokens - 1) / (last - first) if tokens > 1 and last > first else float("nan")
    print(f"\nTTFT {1000 * (first - sent):.0f} ms, {rate:.1f} tokens/s, {tokens} tokens")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--prompt", default="What is an actor, in two sentences?")
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--deadline", type=float, default=120, help="seconds without a byte")
    options = parser.parse_args()
    try:
        chat(options.port, options.prompt, options.max_tokens, options.deadline)
    except (OSError, http.client.HTTPException, ValueError, KeyError, IndexError) as failure:
        sys.exit(f"the chat failed: {type(failure).__name__}: {failure}")


if __name__ == "__main__":
    main()
