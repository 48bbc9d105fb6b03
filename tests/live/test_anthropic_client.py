"""The official anthropic client against a node: whole answers, streams, errors, on scripts."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts

try:
    import anthropic
except ImportError:
    anthropic = None


@unittest.skipIf(anthropic is None, "the anthropic package is not installed (tools/venv live)")
class AnthropicClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.scripts.text("slow", "", delay_ms=30, pieces=list("abcdefghij"))
        cls.scripts.add("die", [{"text": "before"}, {"text": "x", "delay_ms": 100}], "die")
        cls.node = Node(cls.scripts.arguments()).wait_ready()
        cls.client = anthropic.Anthropic(
            base_url=f"http://127.0.0.1:{cls.node.port}", api_key="none", max_retries=0, timeout=20)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        assert cls.node.stop() == 0
        cls.scripts.close()

    def ask(self, model="script/hello", **fields):
        fields = {"max_tokens": 100, **fields}
        return self.client.messages.create(
            model=model, messages=[{"role": "user", "content": "hi"}], **fields)

    def test_whole_answer(self):
        answer = self.ask(system="Be brief.")
        self.assertEqual([block.text for block in answer.content], ["Hello, world!"])
        self.assertEqual((answer.role, answer.stop_reason), ("assistant", "end_turn"))
        self.assertEqual(answer.usage.output_tokens, 13)
        self.assertGreater(answer.usage.input_tokens, 10)

    def test_stream(self):
        with self.client.messages.stream(
                model="script/hello", max_tokens=100,
                messages=[{"role": "user", "content": "hi"}]) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
        self.assertEqual((text, final.stop_reason), ("Hello, world!", "end_turn"))
        self.assertEqual(final.usage.output_tokens, 13)

    def test_limit_and_stop_sequence(self):
        self.assertEqual(self.ask(max_tokens=5).stop_reason, "max_tokens")
        answer = self.ask(stop_sequences=["wor"])
        self.assertEqual((answer.content[0].text, answer.stop_reason, answer.stop_sequence),
                         ("Hello, ", "stop_sequence", "wor"))

    def test_errors_have_their_class(self):
        with self.assertRaises(anthropic.NotFoundError):
            self.ask("nobody")
        with self.assertRaises(anthropic.BadRequestError) as raised:
            self.ask(extra_body={"temperature": 5})
        self.assertEqual(raised.exception.body["error"]["type"], "invalid_request_error")

    def test_a_failure_in_mid_stream_is_an_error_event(self):
        with self.assertRaises(anthropic.APIError):
            for event in self.ask("script/die", stream=True):
                pass
        self.node.wait_until(lambda: self.node.chat("script/hello")[0] == 200, 10, "the rank is back")

    def test_closing_a_stream_ends_its_request(self):
        stream = self.ask("script/slow", stream=True)
        next(iter(stream))
        stream.close()
        self.node.wait_idle(2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
