"""Tool loops of three turns in each family: the script calls, the client answers, the script goes on.

Turn 1 calls two tools at once, turn 2 one more, turn 3 answers. What the model was shown is compared
between the families: the same conversation has the same tokens, however it was told.
"""

import json
import unittest

import anthropic
from harness import (ASYNC, SYNC, ConformanceTest, Turns, answer_chunks, helped_call, whole_call)

ASKED = "Which city has the higher tide?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ABOUT = "The tide of a city."
TIDES = {"Bergen": "1.5 m", "Oslo": "0.3 m", "Brest": "7 m «high»"}
TURNS = [
    answer_chunks("I ask for two.", [("tide", {"city": "Bergen"}), ("tide", {"city": "Oslo"})],
                  "Two cities.", pieces=6),
    answer_chunks("", [("tide", {"city": "Brest"})], "One more.", pieces=4),
    answer_chunks("Brest, with 7 m.", (), "Compare.", pieces=4),
]
FINAL = "Brest, with 7 m."


def in_v4(chunk):
    """V4 writes its tags without the space of V4.1, and names the block otherwise."""
    text = chunk["text"].replace("｜DSML｜ calls", "｜DSML｜tool_calls")
    return {**chunk, "text": text.replace("｜DSML｜ ", "｜DSML｜")}


class Chat:
    vendor, whole, helper = "openai", "chat.completions.create", "chat.completions.stream"
    final = "get_final_completion"
    stream_only = {"stream_options": {"include_usage": True}}

    def __init__(self):
        self.fields = {"messages": [{"role": "user", "content": ASKED}], "reasoning_effort": "high",
                       "tools": [{"type": "function", "function": {
                           "name": "tide", "description": ABOUT, "parameters": SCHEMA}}]}

    def calls(self, answer):
        return [(call.id, call.function.name, json.loads(call.function.arguments))
                for call in answer.choices[0].message.tool_calls or ()]

    def text(self, answer):
        return answer.choices[0].message.content

    def prompt_tokens(self, answer):
        return answer.usage.prompt_tokens

    def finish(self, answer):
        return answer.choices[0].finish_reason

    ends = ("tool_calls", "stop")

    def go_on(self, answer, results):
        self.fields["messages"].append(answer.choices[0].message)
        for id, result in results:
            self.fields["messages"].append({"role": "tool", "tool_call_id": id, "content": result})


class Responses:
    vendor, whole, helper = "openai", "responses.create", "responses.stream"
    final = "get_final_response"
    stream_only = {}
    keeps = False
    ends = ("completed", "completed")

    def __init__(self):
        self.fields = {"input": [{"role": "user", "content": ASKED}], "reasoning": {"effort": "high"},
                       "store": self.keeps, "tools": [{"type": "function", "name": "tide", "strict": None,
                                                       "description": ABOUT, "parameters": SCHEMA}]}

    def calls(self, answer):
        return [(item.call_id, item.name, json.loads(item.arguments)) for item in answer.output
                if item.type == "function_call"]

    def text(self, answer):
        return answer.output_text

    def prompt_tokens(self, answer):
        return answer.usage.input_tokens

    def finish(self, answer):
        return answer.status

    def go_on(self, answer, results):
        outputs = [{"type": "function_call_output", "call_id": id, "output": result}
                   for id, result in results]
        self.fields["input"] += [*answer.output, *outputs]


class KeptResponses(Responses):
    """The server keeps the conversation; the client sends what is new."""
    keeps = True

    def go_on(self, answer, results):
        self.fields["previous_response_id"] = answer.id
        self.fields["input"] = [{"type": "function_call_output", "call_id": id, "output": result}
                                for id, result in results]


class Messages:
    vendor, whole, helper = "anthropic", "messages.create", "messages.stream"
    final = "get_final_message"
    stream_only = {}
    ends = ("tool_use", "end_turn")

    def __init__(self):
        self.fields = {"messages": [{"role": "user", "content": ASKED}], "max_tokens": 4000,
                       "thinking": {"type": "enabled", "budget_tokens": 2000},
                       "tools": [{"name": "tide", "description": ABOUT, "input_schema": SCHEMA}]}

    def calls(self, answer):
        return [(block.id, block.name, block.input) for block in answer.content
                if block.type == "tool_use"]

    def text(self, answer):
        return "".join(block.text for block in answer.content if block.type == "text")

    def prompt_tokens(self, answer):
        return answer.usage.input_tokens

    def finish(self, answer):
        return answer.stop_reason

    def go_on(self, answer, results):
        self.fields["messages"] += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}
                                         for id, result in results]}]


class ToolLoopTest(ConformanceTest):
    """With the prompts and tags of V4.1."""

    @classmethod
    def add_scripts(cls, scripts):
        cls.turns = Turns(scripts, "loop", TURNS)

    def ways(self, family):
        """name → ask(fields) → the answer, for each client, whole and by its stream helper"""
        def whole(which):
            return lambda fields: self.of_one(
                which, family.vendor, *whole_call(family.whole, fields))

        def streamed(which):
            return lambda fields: self.of_one(
                which, family.vendor,
                *helped_call(family.helper, family.final, {**fields, **family.stream_only}))[1]
        return {"sync": whole(SYNC), "async": whole(ASYNC), "sync stream": streamed(SYNC),
                "async stream": streamed(ASYNC)}

    def loop(self, family, ask):
        """The answer, and the prompt tokens of each turn."""
        tokens, seen = [], []
        for turn in range(len(TURNS)):
            self.turns.play(turn)
            answer = ask({"model": self.turns.model, **family.fields})
            tokens.append(family.prompt_tokens(answer))
            calls = family.calls(answer)
            self.assertEqual(family.finish(answer), family.ends[not calls])
            if not calls:
                break
            seen += [arguments["city"] for _, name, arguments in calls if name == "tide"]
            family.go_on(answer, [(id, TIDES[arguments["city"]]) for id, _, arguments in calls])
        self.assertEqual(seen, ["Bergen", "Oslo", "Brest"])
        self.assertEqual(family.text(answer), FINAL)
        return tokens

    def test_loops(self):
        shown = {}
        for kind in (Chat, Responses, KeptResponses, Messages):
            for name, ask in self.ways(kind).items():
                with self.subTest(family=kind.__name__, way=name):
                    shown[kind.__name__, name] = self.loop(kind(), ask)
        expected = shown["Chat", "sync"]
        self.assertLess(expected[0] + 20, expected[1])
        for way, tokens in shown.items():
            self.assertEqual(tokens, expected, way)

    def test_what_the_model_is_shown(self):
        family = Chat()
        self.loop(family, self.ways(Chat)["sync"])
        messages = [message if isinstance(message, dict) else message.to_dict()
                    for message in family.fields["messages"]]
        body = {"model": self.turns.model, **family.fields, "messages": messages}
        status, _, text = self.node.post("/v1/chat/completions/render", body)
        self.assertEqual(status, 200, text)
        prompt = json.loads(text)["prompt"]
        for result in TIDES.values():
            self.assertEqual(prompt.count(f"<tool_result>{result}</tool_result>"), 1, prompt)

    def test_results_that_belong_to_no_call_are_refused(self):
        """Case tool_stream-09: the id of a call is what its result names."""
        for kind in (Chat, Responses, Messages):
            family, ask = kind(), self.ways(kind)["sync"]
            self.turns.play(0)
            answer = ask({"model": self.turns.model, **family.fields})
            ids = [id for id, _, _ in family.calls(answer)]
            self.assertEqual(len(set(ids)), 2)
            family.go_on(answer, [(id + "x", "?") for id in ids])
            with self.assertRaises(Exception) as caught:
                ask({"model": self.turns.model, **family.fields})
            self.assertEqual(caught.exception.status_code, 400, kind.__name__)


    def test_the_runner_of_the_anthropic_sdk(self):
        """It wants the conversation kept at the server, hears that it is not, and sends all of it."""
        waiting = {"Bergen", "Oslo"}

        def tide(city: str) -> str:
            """The tide of a city."""
            waiting.discard(city)
            if not waiting:
                self.turns.advance()
            return TIDES[city]

        async def tide_async(city: str) -> str:
            """The tide of a city."""
            return tide(city)

        def options(tool):
            return {"model": self.turns.model, "max_tokens": 4000, "tools": [tool],
                    "messages": [{"role": "user", "content": ASKED}]}

        async def run(client):
            tool = anthropic.beta_async_tool(tide_async, name="tide")
            return await client.beta.messages.tool_runner(**options(tool)).until_done()

        def run_streams(client):
            last = None
            tool = anthropic.beta_tool(tide)
            for stream in client.beta.messages.tool_runner(stream=True, **options(tool)):
                for _ in stream:
                    pass
                last = stream.get_final_message()
            return last
        for which, use in ((SYNC, run_streams), (ASYNC, run)):
            waiting |= {"Bergen", "Oslo"}
            self.turns.play(0)
            answer = self.of_one(which, "anthropic", use, use)
            self.assertEqual([block.text for block in answer.content if block.type == "text"], [FINAL])


class ToolLoopV4Test(ToolLoopTest):
    flags = ["--script-recipe", "deepseek-v4"]

    @classmethod
    def add_scripts(cls, scripts):
        # Cut at line ends, so that no tag that is to be written otherwise is in two pieces.
        whole = ["".join(chunk["text"] for chunk in turn) for turn in TURNS]
        cls.turns = Turns(scripts, "loop", [
            [in_v4({"text": line, "delay_ms": 1}) for line in turn.splitlines(keepends=True)]
            for turn in whole])


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
