"""Responses through the official openai client: whole and streamed, sync and async, kept and not."""

import json
import unittest

from harness import ConformanceTest, answer_chunks

import openai
import pydantic

CREATE = "responses.create"
TIDE = {"type": "function", "name": "tide", "strict": False,
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
PATCH = "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch"


class Tide(pydantic.BaseModel):
    city: str
    metres: float


class OpenAiResponsesTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("hello", "Hello, wörld!", pieces=4)
        add("think", "High at noon.", thought="The moon pulls.", pieces=6)
        add("json", '{"city": "Bergen", "metres": 1.5}', pieces=3)
        add("call", "Let me see.", [("tide", {"city": "Bergen"})], "Look.", pieces=9)
        add("patch", "", [("apply_patch", {"input": PATCH})], "Write.", pieces=5)

    def ask(self, model="script/hello", thinking=False, **fields):
        effort = {"effort": "medium" if thinking else "none"}
        return {"model": model, "input": "What is the tide?", "reasoning": effort, **fields}

    def test_whole(self):
        for answer in self.whole("openai", CREATE, **self.ask(instructions="Be brief.")):
            self.assertEqual((answer.object, answer.status, answer.error), ("response", "completed", None))
            self.assertEqual((answer.output_text, answer.instructions), ("Hello, wörld!", "Be brief."))
            self.assertTrue(answer.id.startswith("resp_"))
            self.assertEqual(answer._request_id[:13], answer.id[:13])
            item, = answer.output
            self.assertEqual((item.type, item.role, item.status), ("message", "assistant", "completed"))
            self.assertEqual(answer.usage.total_tokens,
                             answer.usage.input_tokens + answer.usage.output_tokens)
            self.assertEqual(answer.usage.input_tokens_details.cached_tokens, 0)

    def test_order_of_events(self):
        for events in self.streamed("openai", CREATE, **self.ask()):
            kinds = [event.type.removeprefix("response.") for event in events]
            text = kinds.count("output_text.delta")
            self.assertGreater(text, 1)
            self.assertEqual(kinds, [
                "created", "in_progress", "output_item.added", "content_part.added",
                *["output_text.delta"] * text, "output_text.done", "content_part.done",
                "output_item.done", "completed"])
            self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
            self.assertEqual(events[-1].response.output_text, "Hello, wörld!")
            self.assertEqual(events[0].response.id, events[-1].response.id)
            self.assertEqual("".join(event.delta for event in events
                                     if event.type == "response.output_text.delta"), "Hello, wörld!")

    def test_reasoning(self):
        for answer in self.whole("openai", CREATE, **self.ask("script/think", True)):
            thought, message = answer.output
            self.assertEqual((thought.type, thought.content[0].text), ("reasoning", "The moon pulls."))
            self.assertEqual(message.content[0].text, "High at noon.")
            self.assertGreater(answer.usage.output_tokens_details.reasoning_tokens, 3)
        for events in self.streamed("openai", CREATE, **self.ask("script/think", True)):
            self.assertEqual("".join(event.delta for event in events
                                     if event.type == "response.reasoning_text.delta"),
                             "The moon pulls.")
            self.assertEqual([item.type for item in events[-1].response.output],
                             ["reasoning", "message"])

    def test_limits_end_incomplete(self):
        fields = self.ask(max_output_tokens=2)
        for answer in self.whole("openai", CREATE, **fields):
            self.assertEqual((answer.status, answer.incomplete_details.reason),
                             ("incomplete", "max_output_tokens"))
        for events in self.streamed("openai", CREATE, **fields):
            self.assertEqual(events[-1].type, "response.incomplete")
            self.assertEqual(events[-1].response.usage.output_tokens, 2)

    def test_function_calls(self):
        fields = self.ask("script/call", True, tools=[TIDE])
        for answer in self.whole("openai", CREATE, **fields):
            thought, message, call = answer.output
            self.assertEqual((call.type, call.name, json.loads(call.arguments), call.status),
                             ("function_call", "tide", {"city": "Bergen"}, "completed"))
        for events in self.streamed("openai", CREATE, **fields):
            done = [event.item for event in events if event.type == "response.output_item.done"][-1]
            added = [event.item for event in events if event.type == "response.output_item.added"][-1]
            final = events[-1].response.output[-1]
            self.assertEqual({done.call_id, added.call_id}, {final.call_id})
            self.assertEqual({done.id, added.id}, {final.id})
            arguments = "".join(event.delta for event in events
                                if event.type == "response.function_call_arguments.delta")
            self.assertEqual((arguments, done.arguments), (final.arguments, final.arguments))

    def test_a_custom_tool(self):
        tools = [{"type": "custom", "name": "apply_patch"}]
        for answer in self.whole("openai", CREATE, **self.ask("script/patch", True, tools=tools)):
            call = answer.output[-1]
            self.assertEqual((call.type, call.name, call.input),
                             ("custom_tool_call", "apply_patch", PATCH))
        for events in self.streamed("openai", CREATE, **self.ask("script/patch", True, tools=tools)):
            self.assertEqual("".join(event.delta for event in events
                                     if event.type == "response.custom_tool_call_input.delta"), PATCH)

    def test_the_stream_helper(self):
        for events, final in self.helped("openai", "responses.stream", "get_final_response",
                                         **self.ask("script/call", True, tools=[TIDE])):
            self.assertEqual([item.type for item in final.output],
                             ["reasoning", "message", "function_call"])
            self.assertIn("response.function_call_arguments.delta", {event.type for event in events})
            snapshots = [event.snapshot for event in events
                         if event.type == "response.function_call_arguments.delta"]
            self.assertEqual(json.loads(snapshots[-1]), {"city": "Bergen"})

    def test_structured_answers(self):
        fields = self.ask("script/json", text_format=Tide)
        for answer in self.whole("openai", "responses.parse", **fields):
            self.assertEqual(answer.output_parsed, Tide(city="Bergen", metres=1.5))
        for _, final in self.helped("openai", "responses.stream", "get_final_response", **fields):
            self.assertEqual(final.output_parsed, Tide(city="Bergen", metres=1.5))

    def test_what_clients_mark_their_requests_with(self):
        marks = {"metadata": {"job": "7", "naïve": "é"}, "prompt_cache_key": "k",
                 "safety_identifier": "s", "user": "u", "parallel_tool_calls": False}
        answers = self.whole("openai", CREATE, **self.ask(**marks))
        answers += [events[-1].response for events in self.streamed("openai", CREATE, **self.ask(**marks))]
        answers += self.whole("openai", "responses.retrieve", response_id=answers[0].id)
        for answer in answers:
            self.assertEqual({name: getattr(answer, name) for name in marks}, marks)
        for error in self.errors("openai", CREATE, **self.ask(metadata={"a": "x" * 600})):
            self.assertEqual(error.param, "metadata")

    def test_kept_retrieved_and_deleted(self):
        for first in self.whole("openai", CREATE, **self.ask(store=True)):
            for again in self.whole("openai", "responses.retrieve", response_id=first.id):
                self.assertEqual(again.model_dump(), first.model_dump())
            second = self.whole("openai", CREATE, previous_response_id=first.id, **self.ask())[1]
            self.assertEqual(second.previous_response_id, first.id)
            self.assertGreater(second.usage.input_tokens, first.usage.input_tokens + 3)
            stream = self.streamed("openai", CREATE, previous_response_id=second.id, **self.ask())[0]
            self.assertGreater(stream[-1].response.usage.input_tokens, second.usage.input_tokens)
            self.clients("openai")[0].responses.delete(first.id)
            for method in ("responses.retrieve", "responses.delete"):
                for error in self.errors("openai", method, response_id=first.id):
                    self.assertIsInstance(error, openai.NotFoundError)
            for error in self.errors("openai", CREATE, previous_response_id=first.id, **self.ask()):
                self.assertIsInstance(error, openai.BadRequestError)
                self.assertEqual(error.code, "previous_response_not_found")

    def test_not_kept(self):
        answers = self.whole("openai", CREATE, store=False, **self.ask())
        answers += [events[-1].response
                    for events in self.streamed("openai", CREATE, store=False, **self.ask())]
        for answer in answers:
            self.assertFalse(answer.store)
            self.assertIsInstance(self.errors("openai", "responses.retrieve",
                                              response_id=answer.id)[0], openai.NotFoundError)

    def test_what_is_not_done_is_refused_by_name(self):
        """Case responses-09: state that this server does not have is never ignored."""
        for field, value in {"previous_response_id": "resp_missing", "conversation": "conv_1",
                             "background": True, "prompt": {"id": "pmpt_1"}, "truncation": "auto",
                             "temperature": 3, "max_output_tokens": 0,
                             "tools": [{"type": "image_generation"}]}.items():
            with self.subTest(field=field):
                for error in self.errors("openai", CREATE, **self.ask(**{field: value})):
                    self.assertIsInstance(error, openai.BadRequestError)
                    self.assertEqual(error.param.split("[")[0], field)


if __name__ == "__main__":
    unittest.main(verbosity=2)
