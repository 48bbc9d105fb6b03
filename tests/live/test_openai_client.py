"""The official openai client against a node: whole answers, streams, errors, cancels, on scripts."""

import os
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts

try:
    import openai
except ImportError:
    openai = None


@unittest.skipIf(openai is None, "the openai package is not installed (tools/venv live)")
class OpenAiClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.scripts.text("slow", "", delay_ms=30, pieces=list("abcdefghij"))
        cls.scripts.add("die", [{"text": "before"}, {"text": "x", "delay_ms": 100}], "die")
        cls.node = Node(cls.scripts.arguments()).wait_ready()
        cls.client = openai.OpenAI(
            base_url=f"http://127.0.0.1:{cls.node.port}/v1", api_key="none", max_retries=0, timeout=20)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        assert cls.node.stop() == 0
        cls.scripts.close()

    def ask(self, model="script/hello", **fields):
        return self.client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "hi"}], **fields)

    def test_whole_answer(self):
        answer = self.ask()
        self.assertEqual(answer.choices[0].message.content, "Hello, world!")
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + 13)

    def test_stream_with_usage(self):
        text, usage, last = "", None, None
        for chunk in self.ask(stream=True, stream_options={"include_usage": True}):
            for choice in chunk.choices:
                text += choice.delta.content or ""
                last = choice.finish_reason or last
            usage = chunk.usage or usage
        self.assertEqual((text, last), ("Hello, world!", "stop"))
        self.assertEqual(usage.completion_tokens, 13)

    def test_without_usage_every_chunk_has_a_choice(self):
        for chunk in self.ask(stream=True):
            self.assertEqual(len(chunk.choices), 1)

    def test_models(self):
        self.assertEqual(self.client.models.list().object, "list")

    def test_errors_have_their_class(self):
        with self.assertRaises(openai.NotFoundError):
            self.ask("nobody")
        with self.assertRaises(openai.BadRequestError) as raised:
            self.ask(temperature=5)
        self.assertEqual(raised.exception.param, "temperature")

    def test_responses_whole_and_streamed(self):
        answer = self.client.responses.create(model="script/hello", input="hi")
        self.assertEqual((answer.output_text, answer.status), ("Hello, world!", "completed"))
        self.assertEqual(answer.usage.output_tokens, 13)
        kinds, text = [], ""
        for event in self.client.responses.create(model="script/hello", input="hi", stream=True):
            kinds.append(event.type)
            if event.type == "response.output_text.delta":
                text += event.delta
        self.assertEqual(text, "Hello, world!")
        self.assertEqual((kinds[0], kinds[-1]), ("response.created", "response.completed"))
        with self.assertRaises(openai.NotFoundError):
            self.client.responses.create(model="nobody", input="hi")

    def test_closing_a_stream_ends_its_request(self):
        stream = self.ask("script/slow", stream=True)
        next(iter(stream))
        stream.close()
        self.node.wait_idle(2)

    def test_a_rank_that_dies_in_mid_stream_is_seen(self):
        with self.assertRaises(Exception):
            for chunk in self.ask("script/die", stream=True):
                pass
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                self.assertEqual(self.ask().choices[0].message.content, "Hello, world!")
                return
            except openai.APIError:
                time.sleep(0.05)
        self.fail("the rank did not come back")


if __name__ == "__main__":
    unittest.main(verbosity=2)
