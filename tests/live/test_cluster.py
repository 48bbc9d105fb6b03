"""Two processes: a gateway node and a rank node that joins it; kills, freezes, restarts."""

import http.client
import json
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts, free_port, text_of


class ClusterTest(unittest.TestCase):
    def setUp(self):
        self.scripts = Scripts()
        self.scripts.text("hello", "Hello, world!")
        self.scripts.text("slow", "", delay_ms=50, pieces=list("abcdefghij" * 8))
        self.address = f"127.0.0.1:{free_port()}"
        self.nodes = []
        self.gateway = self.start(["--roles", "gateway", "--cluster-listen", self.address])

    def tearDown(self):
        for node in self.nodes:
            if node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
                self.assertEqual(node.stop(), 0)
        self.scripts.close()

    def start(self, flags, gateway=True):
        node = Node(self.scripts.arguments() + flags, gateway=gateway)
        self.nodes.append(node)
        return node

    def start_rank(self):
        return self.start(["--roles", "rank", "--join", self.address], gateway=False)

    def running_stream(self):
        connection, response = self.gateway.stream("script/slow")
        self.assertEqual(response.status, 200)
        response.readline()
        return connection, response

    def seconds_to_the_end(self, response):
        """How long until the client sees the end of a broken stream."""
        start = time.monotonic()
        try:
            text, reason, done = text_of(response)
            self.assertFalse(done, "the stream ended as if all was well")
        except (http.client.IncompleteRead, ConnectionError):
            pass
        return time.monotonic() - start

    def test_an_empty_pool_is_503_and_nodes_start_in_any_order(self):
        self.assertEqual(self.gateway.get("/ready")[0], 503)
        # The greeting comes when the port is open already.
        greeting = f": waits for ranks at {self.address}\n"
        self.gateway.wait_until(lambda: greeting in self.gateway.output(), 5, "its greeting")
        status, headers, text = self.gateway.post("/v1/chat/completions", {
            "model": "script/hello", "messages": [{"role": "user", "content": "hi"}]})
        self.assertEqual(status, 503)
        self.assertIn("retry-after", {name.lower() for name in headers})
        self.start_rank()
        self.gateway.wait_ready()
        status, body = self.gateway.chat("script/hello")
        self.assertEqual(body["choices"][0]["message"]["content"], "Hello, world!")

    def test_a_killed_rank_ends_its_requests_within_a_second_and_nothing_else(self):
        rank = self.start_rank()
        self.gateway.wait_ready()
        connection, response = self.running_stream()
        rank.kill()
        self.assertLess(self.seconds_to_the_end(response), 1.0)
        connection.close()
        self.gateway.wait_until(lambda: self.gateway.get("/ready")[0] == 503, 5, "no rank is known")
        self.gateway.wait_until(
            lambda: self.gateway.metric("troupe_requests_live") == 0, 5, "released")
        self.start_rank()
        self.gateway.wait_ready()
        self.assertEqual(self.gateway.chat("script/hello")[0], 200)

    def test_a_frozen_rank_ends_its_requests_within_four_heartbeats_and_comes_back(self):
        rank = self.start_rank()
        self.gateway.wait_ready()
        connection, response = self.running_stream()
        rank.process.send_signal(signal.SIGSTOP)
        # 4 heartbeats of 250 ms, and half a second for a busy machine.
        self.assertLess(self.seconds_to_the_end(response), 1.5)
        connection.close()
        rank.process.send_signal(signal.SIGCONT)
        self.gateway.wait_until(lambda: self.gateway.get("/ready")[0] == 200, 15, "it rejoined")
        self.assertEqual(self.gateway.chat("script/hello")[0], 200)

    def test_one_of_two_ranks_dies_and_the_other_serves(self):
        first, second = self.start_rank(), self.start_rank()
        self.gateway.wait_until(lambda: len(self.peers()) == 2, 15, "both joined")
        first.kill()
        self.gateway.wait_until(lambda: len(self.peers()) == 1, 5, "one is lost")
        lost, = self.peers("lost")
        self.assertRegex(lost["state"], r"^lost \d+ s ago$")
        # The gateway hears of the loss a moment after the link does.
        self.gateway.wait_until(
            lambda: self.gateway.chat("script/hello")[0] == 200, 1, "the other rank serves")
        for _ in range(4):
            self.assertEqual(self.gateway.chat("script/hello")[0], 200)

    def peers(self, state="up"):
        status, text = self.gateway.get("/admin/nodes", port=self.gateway.admin_port)
        return [node for node in json.loads(text)["nodes"]
                if node["address"] != "this node" and node["state"].startswith(state)]

    def test_other_than_loopback_is_refused(self):
        import subprocess
        from node import PROGRAM
        run = subprocess.run([PROGRAM, "node", "--cluster-listen", "0.0.0.0:7000"],
                             capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("loopback", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
