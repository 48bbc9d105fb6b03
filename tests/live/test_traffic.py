"""`troupe traffic` and `troupe plan`: what is asked and counted on a real node; what a load needs."""

import json
import os
import re
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import SOURCE, Node, troupe
from test_commands import HELLO, SCRIPTED, CommandTest


class TrafficTest(CommandTest):
    """Against the node of config/scripted.yaml."""

    @classmethod
    def setUpClass(cls):
        cls.node = Node(SCRIPTED).wait_ready()
        cls.url = f"http://127.0.0.1:{cls.node.port}"

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        assert code == 0, code

    def tearDown(self):
        self.node.wait_idle()

    def test_traffic(self):
        run = self.succeed("traffic", "--url", self.url, "--model", "script/hello",
                           "--num-requests", "5", "--isl", "100", "--json")
        result = json.loads(run.stdout)
        self.assertEqual((result["requests"], result["ok"], result["failed"]), (5, 5, 0))
        self.assertEqual(result["errors"], {})
        self.assertEqual(result["output_tokens"], 5 * len(HELLO))
        self.assertEqual(result["osl"]["mean"], len(HELLO))
        self.assertAlmostEqual(result["isl"]["mean"], 100, delta=10)
        self.assertGreaterEqual(result["ttft_ms"]["min"], 5)
        self.assertGreaterEqual(result["e2el_ms"]["min"], 15)  # three delays
        self.assertLessEqual(result["ttft_ms"]["p99"], result["e2el_ms"]["p99"])
        self.assertAlmostEqual(result["requests_per_s"] * result["duration_s"], 5, delta=0.01)

    def test_traffic_says_what_the_server_saw(self):
        run = self.succeed("traffic", "--url", self.url, "--model", "script/hello",
                           "--num-requests", "4", "--isl", "200", "--json")
        result = json.loads(run.stdout)
        self.assertEqual(result["usage"]["answers"], 4)
        self.assertEqual(result["input_tokens"], 800)
        self.assertNotEqual(result["usage"]["input_tokens"], 0)
        table_text = self.succeed("traffic", "--url", self.url, "--model", "script/hello",
                                  "--num-requests", "2").stdout
        self.assertRegex(table_text, r"Input tokens seen by the server: +\d+\n")
        self.assertIn("From the actual Send", table_text)

    def test_traffic_holds_conversations(self):
        run = self.succeed("traffic", "--url", self.url, "--model", "script/hello", "--num-prompts",
                           "9", "--turns", "3", "--isl", "50", "--think-time", "0.02",
                           "--prefix-groups", "2", "--prefix-len", "64", "--json")
        result = json.loads(run.stdout)
        self.assertEqual((result["requests"], result["ok"]), (9, 9))
        self.assertEqual(result["isl"]["min"], 114)
        self.assertEqual(result["isl"]["max"], 114 + 2 * (128 + 50))

    def test_traffic_plays_a_trace(self):
        traces = os.path.join(SOURCE, "tests", "data", "traces")
        run = self.succeed("traffic", "--url", self.url, "--model", "script/hello", "--trace",
                           os.path.join(traces, "mooncake.jsonl"), "--speed", "10", "--goodput",
                           "ttft:5000", "--json")
        result = json.loads(run.stdout)
        self.assertEqual((result["requests"], result["ok"]), (4, 4))
        self.assertEqual(result["input_tokens"], 1100 + 1030 + 512 + 600)
        self.assertAlmostEqual(result["rate_asked"], 3 / 0.30005, delta=0.01)
        self.assertIsNone(result["broken_off"])
        burst = json.loads(self.succeed(
            "traffic", "--url", self.url, "--model", "script/hello", "--trace",
            os.path.join(traces, "burstgpt.csv"), "--speed", "1000", "--json").stdout)
        self.assertEqual(burst["requests"], 3)
        self.assertIn("2 rows", burst["notes"][0])

    def test_traffic_names_the_line_of_a_damaged_trace(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as trace:
            row = {"timestamp": 0, "input_length": 20, "output_length": 2}
            trace.write("".join(json.dumps(row) + "\n" for _ in range(3)) + "{broken\n")
            trace.flush()
            said = self.fail_with(2, "traffic", "--url", self.url, "--model", "script/hello",
                                  "--trace", trace.name)
            self.assertIn(f"{trace.name}:4: ", said)
            missing = self.fail_with(2, "traffic", "--url", self.url, "--trace", "/nowhere.jsonl")
            self.assertIn("/nowhere.jsonl", missing)

    def test_traffic_refuses_what_cannot_be(self):
        for flags, why in ((["--isl", "gauss:1:2"], "--isl: "), (["--phase", "60"], "--phase: "),
                           (["--ramp-up-strategy", "linear"], "here it is --phase"),
                           (["--extra-body", "[1]"], "--extra-body: ")):
            self.assertIn(why, self.fail_with(2, "traffic", "--url", self.url, *flags))

    def test_traffic_of_failures_fails(self):
        run = troupe("traffic", "--url", self.url, "--model", "nobody", "--num-requests", "5",
                     "--json")
        self.assertEqual(run.returncode, 1)
        result = json.loads(run.stdout)
        self.assertEqual((result["ok"], result["failed"], result["error_share"]), (0, 5, 1))
        self.assertEqual([(404, 5)], [(int(re.search(r"\d+", error)[0]), count)
                                      for error, count in result["errors"].items()])


class PlanTest(CommandTest):
    SEEDS = ("--isl", "77000", "--hit", "0.96", "--osl", "800")

    def plan(self, *flags):
        return json.loads(self.succeed("plan", *flags, "--json").stdout)

    def test_what_512_gpus_take(self):
        said = self.plan(*self.SEEDS, "--gpus", "512", "--prefill-gpus", "256", "--efficiency", "1")
        self.assertAlmostEqual(said["capacity"], 5552, delta=6)
        self.assertEqual((said["best_prefill_gpus"], said["best_decode_gpus"]), (230, 282))
        self.assertAlmostEqual(said["ratio"], 0.81, delta=0.01)

    def test_what_a_trace_needs(self):
        trace = os.path.join(SOURCE, "tests", "data", "traces", "agentic.jsonl")
        said = self.plan("--trace", trace, "--goodput", "ttft:450 tpot:5")
        self.assertAlmostEqual(said["prompt_tokens"], (1500 + 1300 + 1800) / 3, delta=0.1)
        self.assertGreaterEqual(said["user_rate"], 200)
        self.assertEqual((said["prefill_gpus"], said["decode_gpus"]), (1, 1))
        text = self.succeed("plan", "--trace", trace).stdout
        self.assertRegex(text, r"P:D ratio of GPUs: +[\d.]+\n")

    def test_what_cannot_be(self):
        self.assertIn("TPOT", self.fail_with(2, "plan", *self.SEEDS, "--goodput", "tpot:0.1"))
        self.assertIn("/nowhere", self.fail_with(2, "plan", "--trace", "/nowhere"))
        self.assertIn("--chunk", self.fail_with(2, "plan", *self.SEEDS, "--chunk", "0"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
