"""The judge of the chaos run finds what it looks for: each fault of an answer is named."""

import json
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from chaos_requests import LAST, PATHS, Exchange

CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
WHOLE = b"HTTP/1.1 200 OK\r\n\r\n"
FINE = {"left", "refused", "bad", "done"}


def exchange(path, stream, bad=False, refused=False):
    """One of the seeds' exchanges that is like this."""
    for seed in range(10_000):
        one = Exchange(random.Random(seed), "key")
        if (one.path, one.stream, one.bad, one.refused) == (path, stream, bad, refused):
            return one
    raise AssertionError("no seed draws such an exchange")


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


class JudgeTest(unittest.TestCase):
    def judge(self, one, data, head=CHUNKED):
        return one.judge(head, data)

    def test_streams(self):
        for path in PATHS:
            one = exchange(path, True)
            good = b'data: {"a":1}\n\n: keep-alive\n\n' + LAST[path] + b"\n\n"
            self.assertEqual(self.judge(one, chunk(good) + b"0\r\n\r\n"), "done")
            for fault in (chunk(good),
                          chunk(good)[:-9],
                          chunk(b'data: {"a":1}\n\n') + b"0\r\n\r\n",
                          chunk(good + b": keep-alive\n\n") + b"0\r\n\r\n",
                          chunk(b"data: {\n\n" + good) + b"0\r\n\r\n",
                          chunk(b"hello\n\n" + good) + b"0\r\n\r\n"):
                self.assertNotIn(self.judge(one, fault), FINE, (path, fault))

    def test_whole_answers(self):
        one = exchange(PATHS[3], False)
        good = {"id": "m", "stop_reason": "end_turn", "usage": {}}
        self.assertEqual(self.judge(one, json.dumps(good).encode(), WHOLE), "done")
        for fault in ("{", json.dumps({**good, "stop_reason": None}), json.dumps({"id": "m"})):
            self.assertNotIn(self.judge(one, fault.encode(), WHOLE), FINE, fault)

    def test_refusals(self):
        error = json.dumps({"type": "error", "error": {"type": "t", "message": "m"}}).encode()
        head = b"HTTP/1.1 %d No\r\n\r\n"
        bad = exchange(PATHS[3], True, bad=True)
        self.assertEqual(self.judge(bad, error, head % 400), "bad")
        self.assertNotIn(self.judge(bad, error, head % 500), FINE)
        self.assertNotIn(self.judge(bad, b'{"error":{}}', head % 400), FINE)
        good = exchange(PATHS[3], True)
        self.assertEqual(self.judge(good, error, head % 529), "refused")
        self.assertNotIn(self.judge(good, error, head % 400), FINE)
        stranger = exchange(PATHS[3], False, refused=True)
        self.assertEqual(self.judge(stranger, error, head % 401), "refused")
        self.assertNotIn(self.judge(stranger, b"{}", WHOLE), FINE)


if __name__ == "__main__":
    unittest.main(verbosity=2)
