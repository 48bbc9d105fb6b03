"""Fills vectors with what the reference implementation answers.

  python3 ask_reference.py V4_TOKENIZER V41_TOKENIZER < inputs.jsonl > vectors.jsonl

A line of input is a vector without "expect" (docs/recipe.md, "Vectors"); all kinds but streams.
Needs the package deepseek-recipe 0.2.0 and the tokenizers that `troupe model pull deepseek-v4` and
`deepseek-v4.1` fetch. Prompts hold boiler-plate that is not ours: a digest of their token ids pins
them; with --prompts they are there in full, to look at.
"""

import json
import sys

import deepseek_recipe as reference

# Of runtime/base/digest.hpp.
DIGEST_MULTIPLIER = 0x9e3779b97f4a7c15
DIGEST_ODD = DIGEST_START = 0xbb67ae8584caa73b
REQUESTS = {"chat": reference.ChatCompletionRequest, "responses": reference.ResponsesRequest,
            "messages": reference.MessagesRequest}


def name_of(value):
    """The last part of an enumerator's name, None for None."""
    return None if value is None else str(value).rsplit(".", 1)[-1]


def options_of(given):
    options = {}
    for key, value in (given or {}).items():
        kind = {"reasoning_content_behavior": reference.ReasoningContentBehavior}.get(
            key, reference.WebSearchBehavior)
        options[key] = getattr(kind, value) if isinstance(value, str) else value
    return reference.ConversionOptions(**options)


def converted_of(request):
    conversation, inference = request.conversation, request.inference_options
    parsing, constraint = request.parsing_options, request.inference_options.output_constraint
    return {
        "model_version": name_of(request.model_version), "stream": request.stream,
        "thinking": conversation.thinking_mode,
        "reasoning_effort": conversation.reasoning_effort,
        "tool_choice": conversation.tool_choice,
        "response_format": conversation.response_format,
        **{key: getattr(inference, key) for key in (
            "max_tokens", "temperature", "top_p", "logprobs", "top_logprobs", "seed")},
        "output_constraint": None if constraint is None else {
            "kind": constraint.kind, "schema": constraint.schema},
        "parse_tool_calls": parsing.parse_tool_calls,
        "starts_in_tool_calls": parsing.starts_in_tool_calls,
        "parse_json_output": parsing.parse_json_output,
        "thinking_initial_stage": name_of(parsing.thinking_initial_stage),
        "stop_sequences": list(parsing.stop_sequences)}


def digest_of(ids):
    """runtime/base/digest.hpp over the ids."""
    state, mask = DIGEST_START, 2**64 - 1
    for word in ids:
        product = (state ^ word) * DIGEST_MULTIPLIER
        state = (product ^ product >> 64 ^ word * DIGEST_ODD) & mask
    return f"{state:016x}"


def image_of(source):
    kind = "url" if isinstance(source, reference.UrlImageSource) else "data_url"
    return {"kind": kind, "detail": source.detail, "path": source.path}


class Reference:
    def __init__(self, tokenizers, with_prompts=False):
        load = reference.Tokenizer.from_file
        self.with_prompts = with_prompts
        self.tokenizers = {"v4": load(tokenizers[0]), "v4.1": load(tokenizers[1])}
        self.encodings = {
            "v4": reference.DeepseekV4Encoding().with_tokenizer(self.tokenizers["v4"]),
            "v4.1": reference.DeepseekV41Encoding().with_tokenizer(self.tokenizers["v4.1"])}

    def expect(self, vector):
        given = vector["input"]
        if vector["kind"] == "tokenize":
            return {"full_vocab_ids": list(self.tokenizers["v4"].encode(given["text"]))}
        body = given.get("request_text") or json.dumps(given["request"], ensure_ascii=False)
        try:
            request = REQUESTS[vector["protocol"]](body)
        except ValueError:
            return {"stage": "parse"}
        try:
            converted = request.convert(options_of(given.get("options")))
            if vector["kind"] == "limits":
                return {"max_tokens": converted.resolve_max_tokens(given["prompt_tokens"],
                                                                   given["context_limit"])}
        except reference.ConversionError as error:
            body = json.loads(error.body)
            return {"stage": "convert", "status": error.status_code,
                    "message": body["error"]["message"], "body": body}
        return self.prompt(converted)

    def prompt(self, converted):
        version = "v4" if "V4Pro" in name_of(converted.model_version) else "v4.1"
        rendered = self.encodings[version].render_conversation(converted.conversation)
        text = rendered.prompt
        expect = {"prompt": text} if self.with_prompts else {}
        expect["special_ranges_bytes"] = [[len(text[:a].encode()), len(text[:b].encode())]
                                          for a, b in rendered.special_ranges]
        ids = self.encodings[version].encode(converted.conversation)
        expect["token_ids_digest"] = digest_of(ids)
        if self.with_prompts:
            expect["token_ids"] = list(ids)
        expect["image_sources"] = [image_of(source) for source in rendered.image_sources]
        expect["converted"] = converted_of(converted)
        return expect


def main():
    ask = Reference(sys.argv[1:3], with_prompts="--prompts" in sys.argv)
    for line in sys.stdin:
        vector = json.loads(line)
        print(json.dumps({**vector, "expect": ask.expect(vector)}, ensure_ascii=False))


if __name__ == "__main__":
    main()
