"""Corpora of fuzz targets from the recipe's vectors: fuzz_corpus.py FOLDER.

Writes FOLDER/fuzz_recipe_request, fuzz_recipe_stream and fuzz_tokenizer, one file an input in the form
that the target reads (tests/fuzz/NAME/NAME_fuzz.cpp). Every few vectors are enough: the fuzzer
finds what lies between. Without the vectors (TROUPE_SHARED) or the pulled tokenizer it says so and
writes what it can.
"""

import json
import os
import pathlib
import sys

PROTOCOLS = ("chat", "responses", "messages")  # as enum Protocol counts them
THINK_END, DSML, CHUNK_END = 0x80, 0x81, 0xA0  # bytes of fuzz_recipe_stream
INPUTS_MAX = 250


def vectors(name):
    folder = pathlib.Path(os.environ.get("TROUPE_SHARED", "../shared")) / "recipe/vectors"
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").strip().split("\n")
    step = max(1, len(lines) // INPUTS_MAX)
    return [json.loads(line) for line in lines[::step]]


def request_inputs():
    for name in ("encode", "error"):
        for number, vector in enumerate(vectors(name)):
            given = vector["input"]
            body = given.get("request_text")
            if body is None:
                body = json.dumps(given.get("request", {}), ensure_ascii=False)
            mode = number % 4 * 3
            yield bytes([PROTOCOLS.index(vector["protocol"]) + mode]) + body.encode("utf-8", "surrogatepass")


def byte_of_letter():
    """The byte-level alphabet: printable bytes stand for themselves, the rest from U+0100 on."""
    alphabet, spare = {}, 0x100
    for byte in range(256):
        if 0x21 <= byte <= 0x7E or (byte >= 0xA1 and byte != 0xAD):
            alphabet[chr(byte)] = byte
        else:
            alphabet[chr(spare)] = byte
            spare += 1
    return alphabet


def pieces_of_tokens():
    """What each id of the tokenizer is for fuzz_recipe_stream."""
    cache = os.environ.get("TROUPE_CACHE") or pathlib.Path.home() / ".cache/troupe"
    path = pathlib.Path(cache) / "models/deepseek-v4/tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    letters = byte_of_letter()
    pieces = {id: bytes(letters[letter] for letter in word)
              for word, id in tokenizer["model"]["vocab"].items() if letters.keys() >= set(word)}
    for token in tokenizer["added_tokens"]:
        symbol = {"</think>": THINK_END, "｜DSML｜": DSML}.get(token["content"])
        pieces[token["id"]] = bytes([symbol]) if symbol else token["content"].encode()
    return pieces


def stream_inputs():
    pieces = pieces_of_tokens()
    for number, vector in enumerate(vectors("stream")):
        tools = 2 if vector["input"]["request"].get("tools") else 0
        head = bytes([number % 2 + tools + 0x20, PROTOCOLS.index(vector["protocol"]) + 4])
        chunks = [b"".join(pieces.get(id, b"") for id in chunk["tokens"])
                  for chunk in vector["input"]["chunks"] if "tokens" in chunk]
        yield head + bytes([CHUNK_END]).join(chunks)


def tokenizer_inputs():
    for vector in vectors("tokenize"):
        yield vector["input"]["text"].encode("utf-8", "surrogatepass")


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, inputs in (("recipe_request", request_inputs), ("recipe_stream", stream_inputs),
                         ("tokenizer", tokenizer_inputs)):
        target = folder / f"fuzz_{name}"
        target.mkdir(parents=True, exist_ok=True)
        try:
            for number, data in enumerate(inputs()):
                (target / f"vector-{number}").write_bytes(data)
        except OSError as missing:
            print(f"fuzz_corpus: {name}: {missing}", file=sys.stderr)


if __name__ == "__main__":
    main()
