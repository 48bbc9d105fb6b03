"""Clients that leave in the middle: what their requests held is free, and the next turn is right.

Each test ends with nothing held, by the metrics and by `troupe admin ps`.
"""

import asyncio
import json
import socket
import time
import unittest

from harness import ASYNC, SYNC, TIMEOUT, ConformanceTest, answer_chunks, call_of

import anthropic
import openai

ASKED = [{"role": "user", "content": "hi"}]
# vendor, create, stream helper, fields
FAMILIES = {
    "chat": ("openai", "chat.completions.create", "chat.completions.stream", {"messages": ASKED}),
    "completions": ("openai", "completions.create", None, {"prompt": "hi", "max_tokens": 1000}),
    "responses": ("openai", "responses.create", "responses.stream", {"input": "hi"}),
    "messages": ("anthropic", "messages.create", "messages.stream",
                 {"messages": ASKED, "max_tokens": 1000}),
}


class CancelTest(ConformanceTest):
    flags = ["--script-recipe", "deepseek-v4.1", "--max-num-seqs", "4"]

    @classmethod
    def add_scripts(cls, scripts):
        steps = [{"text": letter, "delay_ms": 5} for letter in "ab" * 2000]
        scripts.add("long", [{"text": "Think.</think>"}, *steps], control=True)
        scripts.add("stall", [], "stall")
        scripts.add("hello", answer_chunks("Hello!", thought="Greet."), control=True)

    def left(self):
        return self.node.metric("troupe_requests_client_gone_total")

    def test_a_closed_stream(self):
        for family, (vendor, method, _, own) in FAMILIES.items():
            with self.subTest(family=family):
                before = self.left()
                fields = {"model": "script/long", "stream": True, **own}
                stream = call_of(self.clients(vendor)[SYNC], method)(**fields)
                events = [event for event, _ in zip(stream, range(5))]
                stream.close()
                self.assertEqual(len(events), 5)
                self.assert_nothing_is_held(1)

                async def leave():
                    stream = await call_of(self.clients(vendor)[ASYNC], method)(**fields)
                    async for _ in stream:
                        break
                    await stream.close()
                self.run_async(leave())
                self.assert_nothing_is_held(1)
                self.assertEqual(self.left(), before + 2)

    def test_a_helper_that_is_left(self):
        for family, (vendor, _, method, own) in FAMILIES.items():
            if method is None:
                continue
            with self.subTest(family=family):
                with call_of(self.clients(vendor)[SYNC], method)(model="script/long", **own) as stream:
                    for _ in stream:
                        break
                self.assert_nothing_is_held(1)

                async def leave():
                    client = self.clients(vendor)[ASYNC]
                    async with call_of(client, method)(model="script/long", **own) as stream:
                        async for _ in stream:
                            break
                self.run_async(leave())
                self.assert_nothing_is_held(1)

    def test_a_task_that_is_cancelled(self):
        """While it waits for a whole answer, in decode and before the first token."""
        for script in ("script/long", "script/stall"):
            for family, (vendor, method, _, own) in FAMILIES.items():
                with self.subTest(family=family, script=script):
                    async def leave():
                        task = asyncio.ensure_future(
                            call_of(self.clients(vendor)[ASYNC], method)(model=script, **own))
                        while self.node.metric("vllm:num_requests_running") == 0:
                            await asyncio.sleep(0.005)
                        task.cancel()
                        await asyncio.wait([task], timeout=TIMEOUT)
                        self.assertTrue(task.cancelled())
                    self.run_async(leave())
                    self.assert_nothing_is_held(1)

    def test_a_client_that_loses_patience(self):
        for family, (vendor, method, _, own) in FAMILIES.items():
            library = openai if vendor == "openai" else anthropic
            with self.subTest(family=family), self.assertRaises(library.APITimeoutError):
                call_of(self.clients(vendor)[SYNC], method)(model="script/stall", timeout=0.2, **own)
            self.assert_nothing_is_held(1)

    def test_many_at_once_while_running_and_queued(self):
        """Four run, eight wait; all leave at the same time."""
        before = self.left()

        async def leave():
            client = self.clients("openai")[ASYNC]
            tasks = [asyncio.ensure_future(client.chat.completions.create(
                model="script/long", messages=ASKED)) for _ in range(12)]
            while self.node.metric("vllm:num_requests_waiting") < 8:
                await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=TIMEOUT)
        self.run_async(leave())
        self.assert_nothing_is_held(2)
        self.assertEqual(self.left(), before + 12)

    def test_a_cancelled_response_is_not_kept(self):
        with self.clients("openai")[SYNC].responses.create(
                model="script/long", input="hi", stream=True) as stream:
            id = next(iter(stream)).response.id
        self.assert_nothing_is_held(1)
        with self.assertRaises(openai.NotFoundError):
            self.clients("openai")[SYNC].responses.retrieve(id)

    def send(self, script, **fields):
        body = json.dumps({"model": script, "messages": ASKED, **fields}).encode()
        client = socket.create_connection(("127.0.0.1", self.node.port), timeout=TIMEOUT)
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: "
                       + str(len(body)).encode() + b"\r\n\r\n" + body)
        return client

    def test_a_client_that_hangs_up_during_a_whole_answer(self):
        """Case cancel-01: nothing runs on to max_tokens; it counts as cancelled, not as an error."""
        failed = self.node.metric("troupe_requests_failed_total")
        for script in ("script/long", "script/stall"):
            before = self.left()
            client = self.send(script, max_tokens=100_000)
            self.node.wait_until(lambda: self.node.metric("vllm:num_requests_running") == 1, 5, "it runs")
            time.sleep(0.05)
            client.close()
            start = time.monotonic()
            self.node.wait_idle(1)
            self.assertLess(time.monotonic() - start, 0.5)
            self.assertEqual(self.left(), before + 1)
        self.assertEqual(self.node.metric("troupe_requests_failed_total"), failed)

    def test_the_next_turn_after_a_disconnect(self):
        """Case cancel-03: turn 2 follows within a millisecond and is right."""
        for _ in range(20):
            client = self.send("script/long", stream=True)
            client.recv(4096)
            client.close()
            status, body = self.node.chat("script/hello", messages=[
                *ASKED, {"role": "assistant", "content": "ab"}, {"role": "user", "content": "and?"}])
            self.assertEqual((status, body["choices"][0]["message"]["content"]), (200, "Hello!"))
        self.assert_nothing_is_held(1)


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
