"""Responses that are kept: the official openai client goes on with them, also after a restart."""

import os
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts

import openai

MODEL = "script/hello"


class StoredResponsesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.folder = tempfile.TemporaryDirectory(prefix="troupe-responses-")
        cls.file = os.path.join(cls.folder.name, "responses.log")
        cls.start()

    @classmethod
    def start(cls, *more):
        arguments = cls.scripts.arguments() + ["--responses-file", cls.file, *more]
        cls.node = Node(arguments).wait_ready()
        cls.client = openai.OpenAI(base_url=f"http://127.0.0.1:{cls.node.port}/v1", api_key="none",
                                   max_retries=2, timeout=20)

    @classmethod
    def tearDownClass(cls):
        cls.stop()
        cls.folder.cleanup()
        cls.scripts.close()

    @classmethod
    def stop(cls):
        cls.client.close()
        assert cls.node.stop() == 0

    def ask(self, text="hi", **fields):
        return self.client.responses.create(model=MODEL, input=text, **fields)

    def prompt_tokens(self, *turns):
        """What a conversation without a store costs: every turn sent again."""
        items = [{"role": role, "content": text} for role, text in turns]
        return self.ask(items, store=False).usage.input_tokens

    def test_retrieve_and_delete(self):
        answer = self.ask(metadata=None)
        self.assertTrue(answer.store)
        again = self.client.responses.retrieve(answer.id)
        self.assertEqual(again.model_dump(), answer.model_dump())
        self.client.responses.delete(answer.id)
        for call in (self.client.responses.retrieve, self.client.responses.delete):
            with self.assertRaises(openai.NotFoundError) as raised:
                call(answer.id)
            self.assertIn(answer.id, str(raised.exception))

    def test_input_items_in_pages(self):
        items = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"},
                 {"role": "user", "content": "three"}]
        answer = self.ask(items)
        self.assertLessEqual(answer.created_at, answer.completed_at)
        listed = list(self.client.responses.input_items.list(answer.id, limit=2, order="asc"))
        self.assertEqual([item.content[0].text for item in listed], ["one", "two", "three"])
        page = self.client.responses.input_items.list(answer.id, limit=2)
        self.assertEqual([item.content[0].text for item in page.data], ["three", "two"])
        self.assertTrue(page.has_more)
        with self.assertRaises(openai.BadRequestError):
            self.client.responses.input_items.list(answer.id, limit=500)
        with self.assertRaises(openai.NotFoundError):
            self.client.responses.input_items.list("resp_missing")

    def test_a_stream_is_kept_before_its_end_is_seen(self):
        for _ in range(20):
            last = None
            for event in self.ask(stream=True):
                last = event
            self.assertEqual(last.type, "response.completed")
            kept = self.client.responses.retrieve(last.response.id)
            self.assertEqual(kept.output_text, "Hello, world!")

    def test_a_conversation_goes_on_with_all_its_turns(self):
        first = self.ask("one", instructions="Be brief.")
        second = self.ask("two", previous_response_id=first.id)
        self.assertEqual(second.previous_response_id, first.id)
        third = self.ask("three", previous_response_id=second.id)
        # Instructions of earlier turns are no part of it.
        whole = self.prompt_tokens(("user", "one"), ("assistant", "Hello, world!"), ("user", "two"),
                                   ("assistant", "Hello, world!"), ("user", "three"))
        self.assertEqual(third.usage.input_tokens, whole)
        branch = self.ask("other", previous_response_id=first.id)
        self.assertLess(branch.usage.input_tokens, third.usage.input_tokens)

    def test_store_false_keeps_nothing(self):
        answer = self.ask(store=False)
        self.assertFalse(answer.store)
        with self.assertRaises(openai.NotFoundError):
            self.client.responses.retrieve(answer.id)
        with self.assertRaises(openai.BadRequestError):
            self.ask(previous_response_id=answer.id)

    def test_a_missing_previous_response_is_never_ignored(self):
        for stream in (False, True):
            with self.assertRaises(openai.BadRequestError) as raised:
                self.ask(previous_response_id="resp_missing", stream=stream)
            self.assertEqual((raised.exception.param, raised.exception.code),
                             ("previous_response_id", "previous_response_not_found"))

    def test_ids_of_kept_responses_share_no_guessable_tail(self):
        tails = {self.ask().id[-32:] for _ in range(5)}
        self.assertEqual(len(tails), 5)

    def test_restart(self):
        first = self.ask("one")
        gone = self.ask("gone")
        self.client.responses.delete(gone.id)
        self.stop()
        self.start()
        self.assertEqual(self.client.responses.retrieve(first.id).id, first.id)
        with self.assertRaises(openai.NotFoundError):
            self.client.responses.retrieve(gone.id)
        second = self.ask("two", previous_response_id=first.id)
        whole = self.prompt_tokens(("user", "one"), ("assistant", "Hello, world!"), ("user", "two"))
        self.assertEqual(second.usage.input_tokens, whole)

    def test_a_killed_node_keeps_what_was_written(self):
        first = self.ask("one")
        self.node.wait_until(lambda: os.path.getsize(self.file) > 1000, 5, "the file is written")
        size = 0
        while size != os.path.getsize(self.file):
            size = os.path.getsize(self.file)
            self.ask(store=False)
        self.node.process.send_signal(signal.SIGKILL)
        self.node.process.wait(10)
        with open(self.file, "ab") as file:
            file.write(b"\x00\x00\x01\x00half of a rec")
        self.client.close()
        self.start()
        self.assertEqual(self.client.responses.retrieve(first.id).id, first.id)
        self.assertIn("cut off", self.node.output())

    def test_a_node_that_keeps_none_says_so(self):
        self.stop()
        self.start("--responses-max", "0")
        try:
            answer = self.ask()
            self.assertFalse(answer.store)
            with self.assertRaises(openai.NotFoundError):
                self.client.responses.retrieve(answer.id)
            with self.assertRaises(openai.BadRequestError) as raised:
                self.ask(store=True)
            self.assertEqual(raised.exception.param, "store")
            with self.assertRaises(openai.BadRequestError):
                self.ask(previous_response_id=answer.id)
        finally:
            self.stop()
            self.start()


if __name__ == "__main__":
    unittest.main(verbosity=2)
