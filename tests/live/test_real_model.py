"""The real model behind the front door: greedy answers against the goldens of another engine.

The goldens (TROUPE_SHARED, by default the folder shared beside the sources) are transformers'
greedy continuations of chat prompts in float32. Exit code 77: the model is not in the cache.
"""

import json
import os
import re
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import SOURCE, Node, Watch, events, troupe

SHARED = os.environ.get("TROUPE_SHARED", os.path.join(SOURCE, "..", "shared"))
GOLDENS = os.path.join(SHARED, "model", "golden_smollm2", "golden_fp32.json")
MODEL = "smollm2"
TOKENS = 16
END = "<|im_end|>"
DOGS = "Are dogs real?"
FRANCE = "What is the capital of France?"


def messages(text):
    return [{"role": "user", "content": text}]


def goldens():
    """The chat prompts of the goldens, by their text."""
    with open(GOLDENS) as file:
        prompts = json.load(file)["prompts"]
    return {golden["prompt"]: golden for golden in prompts if golden["kind"] == "chat"}


class RealModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = Node(["--model", MODEL]).wait_ready()

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        assert code == 0, code

    def tearDown(self):
        self.node.wait_idle()

    def ask(self, text, **fields):
        """The whole answer to a greedy request."""
        settings = {"temperature": 0, "max_tokens": TOKENS, "logprobs": True, "top_logprobs": 5}
        status, body = self.node.chat(MODEL, messages=messages(text), **{**settings, **fields})
        self.assertEqual(status, 200, body)
        return body

    def check_gaps(self, entries, golden):
        """At each place the first two candidates are as far apart as in the golden."""
        for place, (entry, gap) in enumerate(zip(entries, golden["gaps"])):
            first, second = (top["logprob"] for top in entry["top_logprobs"][:2])
            self.assertAlmostEqual(first - second, gap, delta=0.005, msg=f"token {place}")
            self.assertEqual(entry["logprob"], first)

    def check_golden(self, golden):
        body = self.ask(golden["prompt"])
        choice = body["choices"][0]
        content = choice["message"]["content"]
        entries = choice["logprobs"]["content"]
        whole, end, _ = golden["text"].partition(END)
        stops = golden["stops_at_eos_2"]
        if end and stops < TOKENS:
            self.assertEqual((content, choice["finish_reason"]), (whole, "stop"))
            self.assertIn(body["usage"]["completion_tokens"], (stops, stops + 1))
            self.assertGreaterEqual(len(entries), stops)
        else:
            self.assertTrue(whole.startswith(content), f"{content!r}, golden: {whole!r}")
            self.assertEqual(choice["finish_reason"], "length")
            self.assertEqual(body["usage"]["completion_tokens"], TOKENS)
            self.assertEqual(len(entries), TOKENS)
        self.assertEqual("".join(entry["token"] for entry in entries).partition(END)[0], content)
        self.check_gaps(entries, golden)
        # The five likeliest first tokens are as far apart as the golden's logits.
        logits = [logit for _, logit in golden["top5"]]
        for top, logit in zip(entries[0]["top_logprobs"], logits, strict=True):
            behind = entries[0]["top_logprobs"][0]["logprob"] - top["logprob"]
            self.assertAlmostEqual(behind, logits[0] - logit, delta=0.005)
        self.assertEqual(body["usage"]["prompt_tokens"], len(golden["ids"]))
        self.assertEqual(body["usage"]["total_tokens"],
                         len(golden["ids"]) + body["usage"]["completion_tokens"])

    @unittest.skipUnless(os.path.exists(GOLDENS), f"there is no {GOLDENS}")
    def test_greedy_answers_are_the_goldens(self):
        prompts = goldens()
        self.assertEqual(len(prompts), 5)
        for prompt, golden in prompts.items():
            with self.subTest(prompt):
                self.check_golden(golden)

    def test_streamed_is_unstreamed(self):
        whole = self.ask(DOGS)
        connection, response = self.node.stream(
            MODEL, messages=messages(DOGS), temperature=0, max_tokens=TOKENS, logprobs=True,
            top_logprobs=5, stream_options={"include_usage": True})
        self.assertEqual(response.status, 200)
        text, reason, usage, entries, last = "", None, None, [], None
        for last in events(response):
            if last == "[DONE]":
                continue
            chunk = json.loads(last)
            self.assertNotIn("error", chunk)
            usage = chunk.get("usage") or usage
            for choice in chunk["choices"]:
                text += choice["delta"].get("content") or ""
                entries += (choice.get("logprobs") or {}).get("content") or []
                reason = choice["finish_reason"] or reason
        connection.close()
        choice = whole["choices"][0]
        self.assertEqual(last, "[DONE]")
        self.assertEqual(text, choice["message"]["content"])
        self.assertEqual(reason, choice["finish_reason"])
        self.assertEqual(entries, choice["logprobs"]["content"])
        self.assertEqual(usage, whole["usage"])

    def test_an_answer_does_not_depend_on_what_runs_beside_it(self):
        def choices(text):
            return self.ask(text, max_tokens=8)["choices"]

        alone, other = choices(DOGS), choices(FRANCE)
        self.assertEqual(choices(DOGS), alone)
        answers = []
        threads = [threading.Thread(target=lambda text=text: answers.append((text, choices(text))))
                   for text in [DOGS] * 4 + [FRANCE]]
        watch = Watch(self.node)
        for thread in threads:
            thread.start()
        watch.seconds_until(
            lambda metrics: metrics["vllm:num_requests_running"] >= 3, 30, "a batch")
        watch.close()
        for thread in threads:
            thread.join(60)
        # To the bit: the log-probabilities are compared too.
        self.assertEqual([choice for text, choice in answers if text == DOGS], [alone] * 4)
        self.assertEqual([choice for text, choice in answers if text == FRANCE], [other])

    def test_finish_reasons_and_usage(self):
        for count in (1, 5):
            body = self.ask(DOGS, max_tokens=count)
            self.assertEqual(body["choices"][0]["finish_reason"], "length")
            self.assertEqual(body["usage"]["completion_tokens"], count)
            self.assertEqual(len(body["choices"][0]["logprobs"]["content"]), count)
        body = self.ask(FRANCE, max_tokens=32)
        self.assertEqual(body["choices"][0]["finish_reason"], "stop")
        self.assertLess(body["usage"]["completion_tokens"], 32)
        self.assertNotIn(END, body["choices"][0]["message"]["content"])

    def test_min_tokens_puts_the_end_off(self):
        settings = {"messages": messages(FRANCE), "temperature": 0, "max_tokens": 60}
        short = self.node.chat(MODEL, **settings)[1]
        self.assertEqual(short["choices"][0]["finish_reason"], "stop")
        self.assertLess(short["usage"]["completion_tokens"], 50)
        status, longer = self.node.chat(MODEL, **settings, min_tokens=50)
        self.assertEqual(status, 200, longer)
        self.assertGreaterEqual(longer["usage"]["completion_tokens"], 50)

    def test_the_first_of_several_choices_is_the_only_one_of_one(self):
        settings = {"messages": messages("Name a city."), "temperature": 1, "max_tokens": 12,
                    "seed": 5}
        one = self.node.chat(MODEL, **settings)[1]["choices"]
        many = self.node.chat(MODEL, **settings, n=4)[1]["choices"]
        self.assertEqual(many[0]["message"], one[0]["message"])
        self.assertGreater(len({choice["message"]["content"] for choice in many}), 1)

    def test_a_longer_prompt_counts_more(self):
        short = self.ask("word", max_tokens=1)["usage"]["prompt_tokens"]
        longer = self.ask("word" + " word" * 40, max_tokens=1)["usage"]["prompt_tokens"]
        self.assertEqual(longer - short, 40)

    def test_logprobs_only_when_asked(self):
        body = self.ask(DOGS, logprobs=False, top_logprobs=None, max_tokens=1)
        self.assertIsNone(body["choices"][0].get("logprobs"))
        body = self.ask(DOGS, top_logprobs=2, max_tokens=1)
        entry, = body["choices"][0]["logprobs"]["content"]
        self.assertEqual(len(entry["top_logprobs"]), 2)
        self.assertEqual(bytes(entry["bytes"]).decode(), entry["token"])
        self.assertLess(entry["logprob"], 0)

    def test_context_overflow_names_both_numbers(self):
        listed = json.loads(self.node.get("/v1/models")[1])["data"]
        self.assertEqual([(model["id"], model["max_model_len"]) for model in listed],
                         [(MODEL, 8192)])
        around = self.ask("word", max_tokens=1)["usage"]["prompt_tokens"] - 1
        status, body = self.node.chat(MODEL, messages=messages("word" + " word" * 8499))
        self.assertEqual(status, 400)
        self.assertEqual(body["error"]["code"], "context_length_exceeded")
        numbers = [int(number) for number in re.findall(r"\d+", body["error"]["message"])]
        self.assertIn(8192, numbers)
        self.assertIn(around + 8500, numbers)

    def test_the_chat_command_asks_for_the_only_model(self):
        expected = self.ask(DOGS)["choices"][0]["message"]["content"]
        run = troupe("chat", "--url", f"http://127.0.0.1:{self.node.port}", "--temperature", "0",
                     "--max-tokens", str(TOKENS), DOGS)
        self.assertEqual((run.returncode, run.stdout), (0, expected + "\n"), run.stderr)


if __name__ == "__main__":
    shown = troupe("model", "show", MODEL)
    if shown.returncode != 0:
        print(f"skipped: {shown.stderr.strip()}")
        sys.exit(77)
    unittest.main(verbosity=2)
