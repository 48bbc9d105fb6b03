"""Endpoints beside the generating ones, with the official clients where they have a call for them."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts

import anthropic
import openai


class EndpointsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.node = Node(cls.scripts.arguments()).wait_ready()
        base = f"http://127.0.0.1:{cls.node.port}"
        cls.openai = openai.OpenAI(base_url=base + "/v1", api_key="none", max_retries=0, timeout=20)
        cls.anthropic = anthropic.Anthropic(
            base_url=base, api_key="none", max_retries=0, timeout=20)

    @classmethod
    def tearDownClass(cls):
        cls.openai.close()
        cls.anthropic.close()
        assert cls.node.stop() == 0
        cls.scripts.close()

    def ask(self, path, body):
        status, _, text = self.node.post(path, body)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def test_a_model_by_id_in_both_shapes(self):
        model = self.openai.models.retrieve("script/hello")
        self.assertEqual((model.id, model.object), ("script/hello", "model"))
        with self.assertRaises(openai.NotFoundError) as raised:
            self.openai.models.retrieve("nobody")
        self.assertEqual(raised.exception.code, "model_not_found")
        model = self.anthropic.models.retrieve("script/hello")
        self.assertEqual((model.id, model.type), ("script/hello", "model"))
        with self.assertRaises(anthropic.NotFoundError):
            self.anthropic.models.retrieve("nobody")

    def test_models_in_both_shapes(self):
        self.assertEqual(self.openai.models.list().object, "list")
        page = self.anthropic.models.list(limit=1000)
        self.assertFalse(page.has_more)

    def test_counted_tokens_are_those_that_are_used(self):
        fields = {"model": "script/hello", "system": "Be brief.",
                  "messages": [{"role": "user", "content": "How are you?"}]}
        counted = self.anthropic.messages.count_tokens(**fields)
        answer = self.anthropic.messages.create(max_tokens=50, **fields)
        self.assertEqual(counted.input_tokens, answer.usage.input_tokens)
        with self.assertRaises(anthropic.NotFoundError):
            self.anthropic.messages.count_tokens(**{**fields, "model": "nobody"})

    def test_tokenize_detokenize_and_render_agree(self):
        chat = {"model": "script/hello", "messages": [{"role": "user", "content": "hi"}]}
        rendered = self.ask("/v1/chat/completions/render", chat)
        tokens = self.ask("/tokenize", chat)
        self.assertEqual(tokens["tokens"], rendered["token_ids"])
        self.assertEqual(tokens["count"], len(tokens["tokens"]))
        text = self.ask("/detokenize", {"model": "script/hello", "tokens": tokens["tokens"]})
        self.assertEqual(text["prompt"], rendered["prompt"])
        again = self.ask("/v1/tokenize", {"model": "script/hello", "prompt": text["prompt"]})
        self.assertEqual(again["tokens"], tokens["tokens"])
        usage = self.node.chat("script/hello")[1]["usage"]
        self.assertEqual(usage["prompt_tokens"], tokens["count"])

    def test_version_load_and_health(self):
        self.assertIn("version", json.loads(self.node.get("/version")[1]))
        self.assertEqual(json.loads(self.node.get("/load")[1]), {"server_load": 0})
        for path in ("/health", "/live", "/liveness", "/ping", "/ready", "/readiness",
                     "/health/ready"):
            self.assertEqual(self.node.get(path)[0], 200, path)

    def test_a_body_over_the_limit_is_413_here_too(self):
        big = b'{"prompt":"' + b"a" * (33 << 20) + b'"}'
        status, _, _ = self.node.post("/tokenize", big)
        self.assertEqual(status, 413)


if __name__ == "__main__":
    unittest.main(verbosity=2)
