"""Completions and models through the official openai client, sync and async."""

import unittest

from harness import ConformanceTest

import openai

CREATE = "completions.create"


class OpenAiCompletionsTest(ConformanceTest):
    flags = []  # prompts and tokens in bytes

    @classmethod
    def add_scripts(cls, scripts):
        scripts.text("hello", "", delay_ms=2, pieces=["Hello", ", wör", "ld!"])

    def ask(self, prompt="Say hello.", **fields):
        return {"model": "script/hello", "prompt": prompt, "max_tokens": 50, **fields}

    def test_whole_and_streamed(self):
        for prompt, count in (("hi", 1), (["hi", "you"], 2), ([104, 105], 1), ([[104], [105]], 2)):
            for answer in self.whole("openai", CREATE, n=2, **self.ask(prompt)):
                self.assertEqual([choice.index for choice in answer.choices], list(range(2 * count)))
                self.assertEqual({(choice.text, choice.finish_reason) for choice in answer.choices},
                                 {("Hello, wörld!", "stop")})
                self.assertEqual(answer.usage.completion_tokens, 14 * 2 * count)
            for chunks in self.streamed("openai", CREATE, stream_options={"include_usage": True},
                                        **self.ask(prompt)):
                texts = [""] * count
                for chunk in chunks:
                    for choice in chunk.choices:
                        texts[choice.index] += choice.text
                self.assertEqual(texts, ["Hello, wörld!"] * count)
                self.assertEqual((chunks[-1].choices, chunks[-1].usage.completion_tokens),
                                 ([], 14 * count))

    def test_logprobs(self):
        for answer in self.whole("openai", CREATE, logprobs=1, **self.ask()):
            logprobs = answer.choices[0].logprobs
            self.assertEqual(len(logprobs.tokens), 14)
            self.assertEqual(logprobs.token_logprobs, [0.0] * 14)
            self.assertEqual(len(logprobs.top_logprobs), 14)
            self.assertEqual(logprobs.text_offset[:3], [0, 1, 2])

    def test_stops_and_refusals(self):
        for answer in self.whole("openai", CREATE, stop=["wör", "zzz"], seed=4, **self.ask()):
            self.assertEqual((answer.choices[0].text, answer.choices[0].finish_reason),
                             ("Hello, ", "stop"))
        for field, value in {"echo": True, "suffix": "x", "best_of": 3, "stop": [""]}.items():
            for error in self.errors("openai", CREATE, **self.ask(**{field: value})):
                self.assertIsInstance(error, openai.BadRequestError)
                self.assertEqual(error.param.split("[")[0], field)

    def test_models(self):
        """Case errors-07: a model's id may hold a slash, which the SDK sends as %2F."""
        for page in self.whole("openai", "models.list"):
            self.assertEqual(page.object, "list")
        for model in self.whole("openai", "models.retrieve", model="script/hello"):
            self.assertEqual((model.id, model.object), ("script/hello", "model"))
        self.assertEqual(self.node.get("/v1/models/script%2Fhello"),
                         self.node.get("/v1/models/script/hello"))
        for error in self.errors("openai", "models.retrieve", model="no/body"):
            self.assertIsInstance(error, openai.NotFoundError)
            self.assertEqual(error.code, "model_not_found")


if __name__ == "__main__":
    unittest.main(verbosity=2)
