"""Messages through the official anthropic client: whole and streamed, sync and async."""

import json
import unittest

from harness import ConformanceTest, answer_chunks

import anthropic
import pydantic

CREATE = "messages.create"
ASKED = [{"role": "user", "content": "What is the tide?"}]
THINKING = {"type": "enabled", "budget_tokens": 1024}
TIDE = {"name": "tide", "input_schema": {"type": "object",
                                         "properties": {"city": {"type": "string"}}}}


class Tide(pydantic.BaseModel):
    city: str
    metres: float


class AnthropicMessagesTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("hello", "Hello, wörld!", pieces=4)
        add("think", "High at noon.", thought="The moon pulls.", pieces=6)
        add("json", '{"city": "Bergen", "metres": 1.5}', pieces=3)
        add("calls", "Let me see.", [("tide", {"city": "Bergen"}), ("tide", {})], "Look.", pieces=9)
        add("halt", "red, green, HALT, blue", pieces=7)

    def ask(self, model="script/hello", thinking=False, **fields):
        return {"model": model, "max_tokens": 2048, "messages": ASKED,
                "thinking": THINKING if thinking else {"type": "disabled"}, **fields}

    def test_whole(self):
        for answer in self.whole("anthropic", CREATE, system="Be brief.", **self.ask()):
            self.assertEqual((answer.type, answer.role, answer.model),
                             ("message", "assistant", "script/hello"))
            self.assertEqual([block.text for block in answer.content], ["Hello, wörld!"])
            self.assertEqual((answer.stop_reason, answer.stop_sequence), ("end_turn", None))
            self.assertTrue(answer.id.startswith("msg_"))
            self.assertEqual(answer._request_id, answer.id)

    def test_usage(self):
        """Case anthropic_req-06: the cached part is told apart from the rest of the prompt."""
        fields = self.ask(system="Be brief.", tools=[TIDE])
        counted = self.whole("anthropic", "messages.count_tokens", **{
            key: value for key, value in fields.items() if key != "max_tokens"})
        answers = self.whole("anthropic", CREATE, **fields)
        answers += [final for _, final in
                    self.helped("anthropic", "messages.stream", "get_final_message", **fields)]
        for answer in answers:
            usage = answer.usage
            prompt = (usage.input_tokens + usage.cache_read_input_tokens
                      + usage.cache_creation_input_tokens)
            self.assertEqual(prompt, counted[0].input_tokens)
            self.assertEqual(prompt, counted[1].input_tokens)
            self.assertGreater(usage.output_tokens, 2)

    def test_order_of_events(self):
        """Cases anthropic_sse-05, anthropic_sse-07, as the SDK sees them."""
        for events in self.streamed("anthropic", CREATE, **self.ask("script/think", True)):
            kinds = [event.type for event in events if event.type != "ping"]
            for once in ("message_start", "message_delta", "message_stop"):
                self.assertEqual(kinds.count(once), 1)
            self.assertEqual((kinds[0], kinds[-2:]), ("message_start", ["message_delta", "message_stop"]))
            start = events[0].message
            self.assertEqual((start.content, start.stop_reason, start.role), ([], None, "assistant"))
            self.assertGreater(start.usage.input_tokens, 5)
            opened = [event.content_block.type for event in events
                      if event.type == "content_block_start"]
            self.assertEqual(opened, ["thinking", "text"])
            deltas = [(event.index, event.delta.type) for event in events
                      if event.type == "content_block_delta"]
            self.assertEqual(deltas, sorted(deltas, key=lambda delta: delta[0]))
            thinking = [kind for index, kind in deltas if index == 0]
            self.assertEqual(thinking, ["thinking_delta"] * (len(thinking) - 1) + ["signature_delta"])
            self.assertEqual({kind for index, kind in deltas if index == 1}, {"text_delta"})

    def test_thinking(self):
        for answer in self.whole("anthropic", CREATE, **self.ask("script/think", True)):
            thought, text = answer.content
            self.assertEqual((thought.thinking, text.text), ("The moon pulls.", "High at noon."))
            self.assertTrue(thought.signature)
        for _, final in self.helped("anthropic", "messages.stream", "get_final_message",
                                    **self.ask("script/think", True)):
            thought, text = final.content
            self.assertEqual((thought.thinking, text.text), ("The moon pulls.", "High at noon."))
            self.assertTrue(thought.signature)
            # What came is taken back in the next turn.
            again = self.ask(messages=[*ASKED, {"role": "assistant", "content": final.content},
                                       {"role": "user", "content": "Why?"}])
            self.assertEqual(self.whole("anthropic", CREATE, **again)[0].stop_reason, "end_turn")

    def test_stops(self):
        fields = self.ask("script/halt", stop_sequences=["HALT", "nothing"])
        for answer in self.whole("anthropic", CREATE, **fields):
            self.assertEqual((answer.content[0].text, answer.stop_reason, answer.stop_sequence),
                             ("red, green, ", "stop_sequence", "HALT"))
        for answer in self.whole("anthropic", CREATE, **self.ask() | {"max_tokens": 2}):
            self.assertEqual((answer.stop_reason, answer.usage.output_tokens), ("max_tokens", 2))

    def test_tool_use(self):
        fields = self.ask("script/calls", True, tools=[TIDE], tool_choice={"type": "auto"})
        answers = self.whole("anthropic", CREATE, **fields)
        answers += [final for _, final in
                    self.helped("anthropic", "messages.stream", "get_final_message", **fields)]
        for answer in answers:
            self.assertEqual([block.type for block in answer.content],
                             ["thinking", "text", "tool_use", "tool_use"])
            first, second = answer.content[2:]
            self.assertEqual((first.name, first.input, second.input),
                             ("tide", {"city": "Bergen"}, {}))
            self.assertNotEqual(first.id, second.id)
            self.assertEqual(answer.stop_reason, "tool_use")
        for events in self.streamed("anthropic", CREATE, **fields):
            self.assertEqual([event.content_block.input for event in events
                              if event.type == "content_block_start"
                              and event.content_block.type == "tool_use"], [{}, {}])
            pieces = "".join(event.delta.partial_json for event in events
                             if event.type == "content_block_delta" and event.index == 2)
            self.assertEqual(json.loads(pieces), {"city": "Bergen"})

    def test_structured_answers(self):
        for answer in self.whole("anthropic", "messages.parse",
                                 **self.ask("script/json", output_format=Tide)):
            self.assertEqual(answer.parsed_output, Tide(city="Bergen", metres=1.5))

    def test_the_text_of_a_stream(self):
        sync, other = self.clients("anthropic")
        with sync.messages.stream(**self.ask()) as stream:
            self.assertEqual("".join(stream.text_stream), "Hello, wörld!")

        async def read():
            async with other.messages.stream(**self.ask()) as stream:
                return "".join([text async for text in stream.text_stream])
        self.assertEqual(self.run_async(read()), "Hello, wörld!")

    def test_refusals_are_named(self):
        for field, value in {"temperature": 3, "top_k": -1, "tool_choice": {"type": "any"},
                             "container": "c", "compaction": {"type": "x"},
                             "thread": {"type": "create"}, "mcp_servers": [{"type": "url", "url": "x",
                                                                "name": "y"}]}.items():
            with self.subTest(field=field):
                for error in self.errors("anthropic", CREATE,
                                         **self.ask(extra_body={field: value})):
                    self.assertIsInstance(error, anthropic.BadRequestError)
                    self.assertEqual(error.body["error"]["type"], "invalid_request_error")
                    self.assertIn(field, error.body["error"]["message"])

    def test_models(self):
        """Case anthropic_req-07: one path, the list in the shape of who asks."""
        for page in self.whole("anthropic", "models.list", limit=1000):
            self.assertFalse(page.has_more)
        for model in self.whole("anthropic", "models.retrieve", model_id="script/hello"):
            self.assertEqual((model.id, model.type), ("script/hello", "model"))
        for error in self.errors("anthropic", "models.retrieve", model_id="nobody"):
            self.assertIsInstance(error, anthropic.NotFoundError)


if __name__ == "__main__":
    unittest.main(verbosity=2)
