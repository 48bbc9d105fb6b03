"""Each failure reaches the SDKs as the class of exception that it is with the vendor."""

import concurrent.futures
import re
import threading
import time
import unittest

from harness import ASYNC, SYNC, TIMEOUT, ConformanceTest, answer_chunks, call_of
from node import troupe

import anthropic
import openai

CHAT, RESPONSES, MESSAGES = "chat.completions.create", "responses.create", "messages.create"
ASKED = [{"role": "user", "content": "hi"}]
# One call of each family: vendor, method, its fields.
FAMILIES = {"chat": ("openai", CHAT, {"messages": ASKED}),
            "responses": ("openai", RESPONSES, {"input": "hi"}),
            "messages": ("anthropic", MESSAGES, {"messages": ASKED, "max_tokens": 100})}


def new_key(name, *limits):
    said = troupe("keys", "new", name, *limits).stdout
    return re.findall(r"^  (\S+)$", said, re.MULTILINE)


class FamilyTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        scripts.add("hello", answer_chunks("Hello!", thought="Greet."), control=True)
        scripts.add("stall", [{"text": "Wait.</think>a"}], "stall", control=True)
        scripts.add("die", [{"text": "x</think>before", "delay_ms": 20}, {"text": "a", "delay_ms": 50}],
                    "die", control=True)

    def failures(self, family, model="script/hello", **fields):
        vendor, method, own = FAMILIES[family]
        return self.errors(vendor, method, model=model, **{**own, **fields})

    def assert_each(self, families, status, openai_class, anthropic_class, kind, **fields):
        """`kind`: the code of OpenAI's errors and the type of Anthropic's."""
        for family in families:
            for error in self.failures(family, **fields):
                with self.subTest(family=family, status=status):
                    self.assertEqual(error.status_code, status)
                    self.assertTrue(error.message)
                    if family == "messages":
                        self.assertIsInstance(error, anthropic_class)
                        self.assertEqual(error.body["type"], "error")
                        self.assertEqual(error.body["error"]["type"], kind[1])
                    else:
                        self.assertIsInstance(error, openai_class)
                        self.assertEqual(error.code, kind[0])


class ErrorsTest(FamilyTest):
    flags = ["--script-recipe", "deepseek-v4.1", "--max-body-bytes", "1MiB", "--max-model-len", "4096",
             "--request-timeout", "1s"]

    def test_404(self):
        self.assert_each(FAMILIES, 404, openai.NotFoundError, anthropic.NotFoundError,
                         ("model_not_found", "not_found_error"), model="nobody")

    def test_413(self):
        for family, (_, _, own) in FAMILIES.items():
            place = "input" if family == "responses" else "messages"
            text = "x" * (2 << 20)
            value = text if family == "responses" else [{"role": "user", "content": text}]
            self.assert_each([family], 413, openai.APIStatusError, anthropic.APIStatusError,
                             ("request_too_large", "request_too_large"), **{place: value})

    def test_context_length(self):
        """Case errors-05: the reason is named, as JSON before a stream begins."""
        text = "x " * 20_000
        for family in FAMILIES:
            place = "input" if family == "responses" else "messages"
            value = text if family == "responses" else [{"role": "user", "content": text}]
            for error in self.failures(family, **{place: value}):
                self.assertEqual(error.status_code, 400)
                self.assertEqual(error.response.headers["content-type"], "application/json")
                self.assertIn("4096", error.message)
                if family != "messages":
                    self.assertEqual(error.code, "context_length_exceeded")

    def test_504(self):
        def wait(family):
            vendor, method, own = FAMILIES[family]
            with self.assertRaises(Exception) as caught:
                call_of(self.clients(vendor)[SYNC], method)(model="script/stall", **own)
            return caught.exception
        with concurrent.futures.ThreadPoolExecutor() as pool:
            chat, response, message = pool.map(wait, FAMILIES)
        for error in (chat, response):
            self.assertIsInstance(error, openai.InternalServerError)
            self.assertEqual((error.status_code, error.code), (504, "deadline_exceeded"))
        self.assertIsInstance(message, anthropic.InternalServerError)
        self.assertEqual((message.status_code, message.body["error"]["type"]), (504, "api_error"))

    def test_a_worker_that_dies_in_mid_stream(self):
        """Cases chat_sse-05, responses-07, errors-01: no clean end, a message that says something."""
        self.chat_dies(SYNC)
        self.response_fails(ASYNC)
        self.message_dies(ASYNC)

    def dying(self, which, vendor, method, **own):
        """(the events before the failure, the failure or None)"""
        events = []
        fields = {"model": "script/die", "stream": True, **own}

        def read(client):
            for event in call_of(client, method)(**fields):
                events.append(event)

        async def read_async(client):
            async for event in await call_of(client, method)(**fields):
                events.append(event)
        failure = None
        try:
            self.of_one(which, vendor, read, read_async)
        except (openai.APIError, anthropic.APIError) as error:
            failure = error
        self.node.wait_until(lambda: self.node.chat("script/hello")[0] == 200, 10, "it serves again")
        return events, failure

    def chat_dies(self, which):
        events, failure = self.dying(which, "openai", CHAT, messages=ASKED)
        self.assertGreater(len(events), 0)
        self.assertIsInstance(failure, openai.APIError)
        self.assertTrue(failure.message)
        self.assertEqual(failure.code, "worker_lost")
        self.assertIsNone(failure.param)
        self.assertEqual({choice.finish_reason for event in events for choice in event.choices}, {None})

    def response_fails(self, which):
        events, failure = self.dying(which, "openai", RESPONSES, input="hi")
        self.assertIsNone(failure)  # the failure is the last event, and then the body ends
        last = events[-1]
        self.assertEqual((last.type, last.response.status), ("response.failed", "failed"))
        self.assertEqual(last.response.error.code, "worker_lost")
        self.assertTrue(last.response.error.message)

    def message_dies(self, which):
        events, failure = self.dying(which, "anthropic", MESSAGES, messages=ASKED,
                                     max_tokens=100)
        self.assertEqual(events[0].type, "message_start")
        self.assertNotIn("message_stop", {event.type for event in events})
        self.assertIsInstance(failure, anthropic.APIStatusError)
        self.assertIn(failure.body["error"]["type"], ("api_error", "overloaded_error"))


class KeysTest(FamilyTest):
    @classmethod
    def setUpClass(cls):
        cls.key, entry = new_key("alice")
        cls.narrow, narrow = new_key("bob", "--concurrent", "1")
        cls.flags = ["--script-recipe", "deepseek-v4.1", "--api-keys", f"{entry},{narrow}"]
        super().setUpClass()

    def test_401(self):
        self.assert_each(FAMILIES, 401, openai.AuthenticationError, anthropic.AuthenticationError,
                         ("invalid_api_key", "authentication_error"))

    def test_both_headers_let_in(self):
        """Case anthropic_req-09: x-api-key or Bearer, in all families, whatever version is named."""
        paths = {"/v1/chat/completions": {"messages": ASKED}, "/v1/responses": {"input": "hi"},
                 "/v1/messages": {"messages": ASKED, "max_tokens": 100}}
        for path, own in paths.items():
            for headers in ({"authorization": f"Bearer {self.key}"}, {"x-api-key": self.key}):
                for version in ("2023-06-01", "2026-10-21", "2099-01-01"):
                    status, _, text = self.node.post(
                        path, {"model": "script/hello", **own},
                        headers={**headers, "anthropic-version": version})
                    self.assertEqual(status, 200, text)

    def test_429_is_waited_for(self):
        """Case errors-03: the SDKs wait as long as Retry-After says, and then succeed."""
        for vendor, library in (("openai", openai), ("anthropic", anthropic)):
            with self.subTest(vendor=vendor):
                holder = self.new_client(vendor, [], self.narrow)
                stream = self.create(holder, vendor, model="script/stall", stream=True)
                next(iter(stream))
                seen = []
                with self.assertRaises(library.RateLimitError) as caught:
                    self.create(self.new_client(vendor, seen, self.narrow), vendor)
                self.assertEqual([response.status_code for response in seen], [429])
                headers = caught.exception.response.headers
                self.assertGreaterEqual(int(headers["retry-after"]), 1)
                self.assertGreater(int(headers["retry-after-ms"]), 0)
                patient = self.new_client(vendor, seen, self.narrow, max_retries=2,
                                          leave=stream.close)
                start = time.monotonic()
                self.assertTrue(self.create(patient, vendor).id)
                self.assertEqual([response.status_code for response in seen], [429, 429, 200])
                self.assertGreater(time.monotonic() - start, int(headers["retry-after-ms"]) / 1000)
                holder.close()

    def new_client(self, vendor, seen, key, max_retries=0, leave=None):
        """A client that notes each answer in `seen`, and calls `leave` when it was refused."""
        library = openai if vendor == "openai" else anthropic

        def note(response):
            seen.append(response)
            if leave and response.status_code == 429:
                leave()
        client = (library.OpenAI if vendor == "openai" else library.Anthropic)(
            base_url=self.url + ("/v1" if vendor == "openai" else ""), api_key=key,
            max_retries=max_retries, timeout=TIMEOUT,
            http_client=library.DefaultHttpxClient(event_hooks={"response": [note]}))
        self.addCleanup(client.close)
        return client

    @staticmethod
    def create(client, vendor, model="script/hello", **fields):
        if vendor == "openai":
            return client.chat.completions.create(model=model, messages=ASKED, **fields)
        return client.messages.create(model=model, messages=ASKED, max_tokens=100, **fields)

    def test_bad_input_is_not_tried_again(self):
        """Case errors-03: no status that the SDKs retry."""
        for vendor, library in (("openai", openai), ("anthropic", anthropic)):
            for fields in ({"model": "nobody"}, {"extra_body": {"temperature": 9}}):
                seen = []
                with self.assertRaises(library.APIStatusError):
                    self.create(self.new_client(vendor, seen, self.key, max_retries=2), vendor,
                                **fields)
                self.assertEqual(len(seen), 1)


class OverloadTest(FamilyTest):
    flags = ["--script-recipe", "deepseek-v4.1", "--max-queue", "0", "--max-num-seqs", "1"]

    def test_503_and_529(self):
        """Case errors-03: with Retry-After, as each family says it."""
        with self.clients("openai")[SYNC].chat.completions.create(
                model="script/stall", messages=ASKED, stream=True) as stream:
            next(iter(stream))
            self.assert_each(("chat", "responses"), 503, openai.InternalServerError, None,
                             ("overloaded", None))
            self.assert_each(("messages",), 529, None, anthropic.OverloadedError,
                             (None, "overloaded_error"))
            for family in FAMILIES:
                self.assertGreaterEqual(
                    int(self.failures(family)[0].response.headers["retry-after"]), 1)

    def test_the_sdks_try_again_until_there_is_room(self):
        for which, (vendor, method, own) in ((SYNC, FAMILIES["chat"]), (ASYNC, FAMILIES["messages"])):
            self.node.wait_idle()  # the stream that a test before has closed is heard of later
            stream = self.clients("openai")[SYNC].chat.completions.create(
                model="script/stall", messages=ASKED, stream=True)
            next(iter(stream))
            leave = threading.Timer(0.3, stream.close)
            leave.start()
            start = time.monotonic()

            def ask(client):
                return call_of(client.with_options(max_retries=3), method)(model="script/hello", **own)
            self.assertTrue(self.of_one(which, vendor, ask, ask).id)
            self.assertGreater(time.monotonic() - start, 0.9)  # Retry-After says 1
            leave.join(TIMEOUT)


del FamilyTest, ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
