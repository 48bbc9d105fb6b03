"""Chat Completions through the official openai client: whole and streamed, sync and async."""

import json
import unittest

from harness import ConformanceTest, answer_chunks

import openai
import pydantic

CREATE = "chat.completions.create"
ASKED = [{"role": "user", "content": "What is the tide?"}]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "number"}}}
TIDE = {"type": "function", "function": {"name": "tide", "parameters": SCHEMA, "strict": False}}


class Tide(pydantic.BaseModel):
    city: str
    metres: float


def joined(chunks, field="content", choice=0):
    return "".join(getattr(part.delta, field, None) or "" for chunk in chunks
                   for part in chunk.choices if part.index == choice)


def finishes(chunks):
    return {part.index: part.finish_reason for chunk in chunks for part in chunk.choices
            if part.finish_reason}


class OpenAiChatTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("hello", "Hello, wörld! 😀", pieces=5)
        add("think", "High at noon.", thought="The moon pulls.", pieces=6)
        add("json", '{"city": "Bergen", "metres": 1.5}', pieces=3)
        add("calls", "Let me see.", [("tide", {"city": "Bergen", "days": 2}),
                                     ("tide", {"city": "Oslo"})], "Two.", pieces=9)

    def ask(self, model="script/hello", thinking=False, **fields):
        body = {"thinking": {"type": "enabled" if thinking else "disabled"}}
        return {"model": model, "messages": ASKED, "extra_body": {**body, **fields.pop("extra", {})},
                **fields}

    def test_whole(self):
        for answer in self.whole("openai", CREATE, **self.ask()):
            self.assertEqual(answer.object, "chat.completion")
            self.assertEqual(answer.model, "script/hello")
            self.assertEqual(answer._request_id, answer.id)
            self.assertTrue(answer.id.startswith("chatcmpl-"))
            choice, = answer.choices
            self.assertEqual((choice.index, choice.finish_reason), (0, "stop"))
            self.assertEqual((choice.message.role, choice.message.content, choice.message.tool_calls),
                             ("assistant", "Hello, wörld! 😀", None))
            usage = answer.usage
            self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
            self.assertEqual(usage.prompt_tokens_details.cached_tokens, 0)

    def test_streamed(self):
        whole = self.whole("openai", CREATE, **self.ask())[0]
        for chunks in self.streamed("openai", CREATE, **self.ask()):
            self.assertEqual(len({chunk.id for chunk in chunks}), 1)
            self.assertEqual({chunk.object for chunk in chunks}, {"chat.completion.chunk"})
            self.assertEqual(joined(chunks), whole.choices[0].message.content)
            self.assertEqual(finishes(chunks), {0: "stop"})
            self.assertEqual({len(chunk.choices) for chunk in chunks}, {1})
            self.assertEqual({chunk.usage for chunk in chunks}, {None})

    def test_usage_of_a_stream(self):
        whole = self.whole("openai", CREATE, **self.ask("script/think", True))[0]
        self.assertGreater(whole.usage.completion_tokens_details.reasoning_tokens, 3)
        for chunks in self.streamed("openai", CREATE, stream_options={"include_usage": True},
                                    **self.ask("script/think", True)):
            self.assertEqual([len(chunk.choices) for chunk in chunks], [1] * (len(chunks) - 1) + [0])
            self.assertEqual(chunks[-1].usage, whole.usage)

    def test_reasoning(self):
        for answer in self.whole("openai", CREATE, **self.ask("script/think", True)):
            message = answer.choices[0].message
            self.assertEqual((message.reasoning_content, message.content),
                             ("The moon pulls.", "High at noon."))
        for chunks in self.streamed("openai", CREATE, **self.ask("script/think", True)):
            self.assertEqual((joined(chunks, "reasoning_content"), joined(chunks)),
                             ("The moon pulls.", "High at noon."))
        effort = self.whole("openai", CREATE, model="script/think", messages=ASKED,
                            reasoning_effort="high")[0]
        self.assertEqual(effort.choices[0].message.reasoning_content, "The moon pulls.")

    def test_several_choices(self):
        for answer in self.whole("openai", CREATE, n=3, **self.ask()):
            self.assertEqual([choice.index for choice in answer.choices], [0, 1, 2])
            self.assertEqual({choice.message.content for choice in answer.choices},
                             {"Hello, wörld! 😀"})
        for chunks in self.streamed("openai", CREATE, n=2, **self.ask()):
            self.assertEqual([joined(chunks, choice=choice) for choice in (0, 1)],
                             ["Hello, wörld! 😀"] * 2)
            self.assertEqual(finishes(chunks), {0: "stop", 1: "stop"})

    def test_logprobs(self):
        fields = self.ask(logprobs=True, top_logprobs=2)
        answers = [answer.choices[0].logprobs.content
                   for answer in self.whole("openai", CREATE, **fields)]
        answers += [[token for chunk in chunks for choice in chunk.choices if choice.logprobs
                     for token in choice.logprobs.content]
                    for chunks in self.streamed("openai", CREATE, **fields)]
        for tokens in answers:
            text = b"".join(bytes(token.bytes) for token in tokens)
            self.assertEqual(text.decode(), "Hello, wörld! 😀")
            for token in tokens:
                self.assertLessEqual(token.logprob, 0)
                self.assertIn(token.bytes, [top.bytes for top in token.top_logprobs])
        self.assertIsNone(self.whole("openai", CREATE, **self.ask())[0].choices[0].logprobs)

    def test_stop_strings_and_limits(self):
        for stop in ("wör", ["ld", "wör"]):
            for answer in self.whole("openai", CREATE, stop=stop, **self.ask()):
                self.assertEqual((answer.choices[0].message.content, answer.choices[0].finish_reason),
                                 ("Hello, ", "stop"))
            for chunks in self.streamed("openai", CREATE, stop=stop, **self.ask()):
                self.assertEqual((joined(chunks), finishes(chunks)), ("Hello, ", {0: "stop"}))
        for limit in ({"max_tokens": 2}, {"max_completion_tokens": 2}):
            for answer in self.whole("openai", CREATE, **limit, **self.ask()):
                self.assertEqual((answer.choices[0].finish_reason, answer.usage.completion_tokens),
                                 ("length", 2))
            for chunks in self.streamed("openai", CREATE, **limit, **self.ask()):
                self.assertEqual(finishes(chunks), {0: "length"})

    def test_sampling_parameters_are_taken_or_refused_by_name(self):
        taken = {"temperature": 0, "top_p": 0.5, "seed": -7, "logit_bias": {"5": 1.5}, "user": "u",
                 "presence_penalty": 0, "frequency_penalty": 0, "store": False, "metadata": {"a": "b"},
                 "parallel_tool_calls": True, "service_tier": "auto", "tools": [TIDE],
                 "extra": {"top_k": 5, "min_p": 0.1, "min_tokens": 1, "ignore_eos": True}}
        for answer in self.whole("openai", CREATE, **self.ask(**taken)):
            self.assertEqual(answer.choices[0].finish_reason, "stop")
        for field, value in {"temperature": 2.5, "top_p": -1, "n": 0, "top_logprobs": 50,
                             "logit_bias": {"99999999": 1}, "presence_penalty": 1.5,
                             "stop": [""], "functions": [{"name": "f"}],
                             "modalities": ["audio"]}.items():
            with self.subTest(field=field):
                more = {"logprobs": True} if field == "top_logprobs" else {}
                for error in self.errors("openai", CREATE, **self.ask(**{field: value}, **more)):
                    self.assertIsInstance(error, openai.BadRequestError)
                    self.assertEqual(error.param.split(".")[0].split("[")[0], field)

    def test_tool_calls(self):
        wanted = [{"city": "Bergen", "days": 2}, {"city": "Oslo"}]
        fields = self.ask("script/calls", True, tools=[TIDE])
        for answer in self.whole("openai", CREATE, **fields):
            choice = answer.choices[0]
            self.assertEqual((choice.finish_reason, choice.message.content),
                             ("tool_calls", "Let me see."))
            self.assertEqual([json.loads(call.function.arguments)
                              for call in choice.message.tool_calls], wanted)
            self.assertEqual(len({call.id for call in choice.message.tool_calls}), 2)
        for chunks in self.streamed("openai", CREATE, **fields):
            calls = {}
            for piece in (piece for chunk in chunks for part in chunk.choices
                          for piece in part.delta.tool_calls or ()):
                call = calls.setdefault(piece.index, {"ids": [], "names": [], "arguments": ""})
                call["ids"] += [piece.id] if piece.id else []
                call["names"] += [piece.function.name] if piece.function.name else []
                call["arguments"] += piece.function.arguments or ""
            self.assertEqual(list(calls), [0, 1])
            self.assertEqual([json.loads(call["arguments"]) for call in calls.values()], wanted)
            for call in calls.values():
                self.assertEqual((len(call["ids"]), call["names"]), (1, ["tide"]))
            self.assertEqual(finishes(chunks), {0: "tool_calls"})

    def test_one_call_at_a_time(self):
        for answer in self.whole("openai", CREATE, parallel_tool_calls=False,
                                 **self.ask("script/calls", True, tools=[TIDE])):
            self.assertEqual(len(answer.choices[0].message.tool_calls), 1)

    def test_the_stream_helper(self):
        for events, final in self.helped("openai", "chat.completions.stream", "get_final_completion",
                                         **self.ask("script/calls", True, tools=[TIDE])):
            kinds = {event.type for event in events}
            self.assertLessEqual({"chunk", "content.delta", "content.done",
                                  "tool_calls.function.arguments.delta",
                                  "tool_calls.function.arguments.done"}, kinds)
            message = final.choices[0].message
            self.assertEqual([call.function.name for call in message.tool_calls], ["tide", "tide"])
            self.assertEqual(message.content, "Let me see.")

    def test_structured_answers(self):
        fields = self.ask("script/json", response_format=Tide)
        for answer in self.whole("openai", "chat.completions.parse", **fields):
            self.assertEqual(answer.choices[0].message.parsed, Tide(city="Bergen", metres=1.5))
        for _, final in self.helped("openai", "chat.completions.stream", "get_final_completion",
                                    **fields):
            self.assertEqual(final.choices[0].message.parsed, Tide(city="Bergen", metres=1.5))
        asked = self.ask("script/json", response_format={"type": "json_object"})
        asked["messages"] = [{"role": "user", "content": "The tide, as JSON."}]
        for answer in self.whole("openai", CREATE, **asked):
            self.assertEqual(json.loads(answer.choices[0].message.content)["city"], "Bergen")

    def test_raw_responses(self):
        raw, raw_async = self.whole("openai", "chat.completions.with_raw_response.create",
                                    **self.ask())
        for answer in (raw, raw_async):
            self.assertEqual(answer.headers["content-type"], "application/json")
            self.assertEqual(answer.headers["x-request-id"], answer.parse().id)


if __name__ == "__main__":
    unittest.main(verbosity=2)
