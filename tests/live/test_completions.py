"""Completions, and several choices of Chat, with the official openai client on scripts."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts, events

import openai

MODEL = "script/hello"
TEXT = "Hello, world!"


class CompletionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", TEXT)
        cls.scripts.text("slow", "", delay_ms=20, pieces=list("abcdefghij"))
        cls.scripts.add("die", [{"text": "before"}, {"text": "x", "delay_ms": 100}], "die")
        cls.node = Node(cls.scripts.arguments()).wait_ready()
        cls.client = openai.OpenAI(base_url=f"http://127.0.0.1:{cls.node.port}/v1", api_key="none",
                                   max_retries=0, timeout=20)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        assert cls.node.stop() == 0
        cls.scripts.close()

    def complete(self, prompt="hi", model=MODEL, **fields):
        return self.client.completions.create(model=model, prompt=prompt,
                                              **{"max_tokens": 50, **fields})

    def chat(self, model=MODEL, **fields):
        return self.client.chat.completions.create(
            model=model, messages=[{"role": "user", "content": "hi"}], **fields)

    def tearDown(self):
        self.node.wait_idle()

    def test_prompts_of_every_form(self):
        for prompt, count, tokens in (("hi", 1, 2), (["hi", "you"], 2, 5), ([104, 105], 1, 2),
                                      ([[104], [105, 106]], 2, 3)):
            answer = self.complete(prompt)
            self.assertEqual(answer.object, "text_completion")
            self.assertEqual([choice.index for choice in answer.choices], list(range(count)))
            self.assertEqual({choice.text for choice in answer.choices}, {TEXT})
            self.assertEqual({choice.finish_reason for choice in answer.choices}, {"stop"})
            self.assertEqual(answer.usage.prompt_tokens, tokens)
            self.assertEqual(answer.usage.completion_tokens, 13 * count)

    def test_limits_and_stops(self):
        short = self.complete(max_tokens=5)
        self.assertEqual((short.choices[0].text, short.choices[0].finish_reason),
                         ("Hello", "length"))
        self.assertEqual(self.complete(stop=["wor"]).choices[0].text, "Hello, ")
        default = self.client.completions.create(model=MODEL, prompt="hi")
        self.assertEqual(default.choices[0].text, TEXT)

    def test_a_stream_of_several_choices(self):
        texts, ends, usage = ["", "", "", ""], {}, []
        for chunk in self.complete(["a", "b"], n=2, stream=True,
                                   stream_options={"include_usage": True}):
            for choice in chunk.choices:
                texts[choice.index] += choice.text
                if choice.finish_reason:
                    self.assertNotIn(choice.index, ends)
                    ends[choice.index] = choice.finish_reason
            if chunk.usage:
                usage.append((chunk.choices, chunk.usage.prompt_tokens,
                              chunk.usage.completion_tokens))
        self.assertEqual(texts, [TEXT] * 4)
        self.assertEqual(ends, dict.fromkeys(range(4), "stop"))
        self.assertEqual(usage, [([], 2, 52)])

    def test_refusals_are_named(self):
        for fields in ({"echo": True}, {"suffix": "x"}, {"best_of": 3}, {"n": 0}):
            with self.assertRaises(openai.BadRequestError) as raised:
                self.complete(**fields)
            self.assertEqual(raised.exception.param, next(iter(fields)))
        with self.assertRaises(openai.NotFoundError):
            self.complete(model="nobody")
        with self.assertRaises(openai.BadRequestError) as raised:
            self.complete([1, 2, 100000])
        self.assertEqual(raised.exception.param, "prompt[2]")

    def test_chat_with_several_choices(self):
        answer = self.chat(n=3)
        self.assertEqual([choice.index for choice in answer.choices], [0, 1, 2])
        self.assertEqual({choice.message.content for choice in answer.choices}, {TEXT})
        self.assertEqual(answer.usage.completion_tokens, 39)
        self.assertEqual(answer.usage.prompt_tokens, self.chat().usage.prompt_tokens)

    def test_a_chat_stream_of_several_choices(self):
        connection, response = self.node.stream(MODEL, n=2)
        roles, texts, ends, done = {}, ["", ""], {}, 0
        for data in events(response):
            if data == "[DONE]":
                done += 1
                continue
            chunk = json.loads(data)
            self.assertNotIn("usage", chunk)
            for choice in chunk["choices"]:
                index, delta = choice["index"], choice["delta"]
                texts[index] += delta.get("content") or ""
                if "role" in delta:
                    roles[index] = roles.get(index, 0) + 1
                if choice["finish_reason"]:
                    ends[index] = ends.get(index, 0) + 1
        connection.close()
        self.assertEqual((roles, texts, ends, done), ({0: 1, 1: 1}, [TEXT, TEXT], {0: 1, 1: 1}, 1))

    def test_a_stop_string_ends_each_choice(self):
        answer = self.chat("script/slow", n=2, stop=["c"])
        self.assertEqual([choice.message.content for choice in answer.choices], ["ab", "ab"])

    def test_leaving_ends_all_choices(self):
        stream = self.chat("script/slow", n=4, stream=True)
        next(iter(stream))
        stream.close()
        self.node.wait_idle(2)

    def test_more_choices_than_fit(self):
        small = Node(self.scripts.arguments() + ["--max-num-seqs", "2", "--max-queue", "4"])
        try:
            small.wait_ready()
            self.assertEqual(len(small.chat(MODEL, n=4)[1]["choices"]), 4)
            status, body = small.chat(MODEL, n=7)
            self.assertEqual(status, 400, body)
            small.wait_idle()
        finally:
            self.assertEqual(small.stop(), 0)

    def test_a_rank_that_dies_fails_all_choices_once(self):
        connection, response = self.node.stream("script/die", n=2)
        errors = [data for data in self.data_until_cut(response) if "error" in data]
        connection.close()
        self.assertEqual(len(errors), 1)
        self.node.wait_until(lambda: self.node.chat(MODEL)[0] == 200, 10, "the rank is back")

    @staticmethod
    def data_until_cut(response):
        lines = []
        try:
            for data in events(response):
                lines.append(data)
        except Exception:  # the cut
            pass
        return lines


if __name__ == "__main__":
    unittest.main(verbosity=2)
