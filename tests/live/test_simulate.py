"""Load flags and refusals of `troupe simulate`, from the command line."""
import gzip
import json
import os
import tempfile
import unittest

from node import SOURCE
from test_commands import CommandTest

TRACES = os.path.join(SOURCE, "tests", "data", "traces")
PLAN = """
prefill: {engines: 2, ranks: 2}
decode: {ranks: 4}
workload: {request_rate: 20, num_requests: 50, isl: 4000, cached_share: 0.5, osl: 20}
"""
ENGINES = """
engines: {count: 2, rows_most: 16}
workload: {request_rate: 20, num_requests: 50, isl: 4000, osl: 20}
"""


class SimulateTest(CommandTest):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def file(self, text, name="plan.yaml"):
        path = os.path.join(self.directory.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def report(self, *words):
        return json.loads(self.succeed("simulate", *words, "--json").stdout)

    def test_a_trace_is_played_in_both_worlds(self):
        trace = ("--trace", os.path.join(TRACES, "agentic.jsonl"), "--speed", "2")
        for world in ((), ("--config", self.file(PLAN))):
            with self.subTest(world=world):
                report = self.report(*trace, *world)
                self.assertEqual((report["ok"], report["input_tokens"], report["output_tokens"]),
                                 (3, 4600, 340))
                self.assertGreater(report["duration_s"], 4.4)  # its last row is due at 9 s

    def test_flags_mean_what_they_mean_to_traffic(self):
        words = ["--phase", "2:10", "--phase", "2:30", "--isl", "uniform:100:200", "--osl",
                 "uniform:5:9", "--burstiness", "0.5", "--turns", "uniform:1:3", "--think-time",
                 "0.5", "--prefix-groups", "3", "--prefix-len", "300", "--cancel-rate", "0.2",
                 "--cancel-delay", "0.01", "--seed", "5"]
        for world in ((), ("--config", self.file(PLAN))):
            with self.subTest(world=world):
                report = self.report(*words, *world)
                self.assertGreater(report["requests"], 60)
                self.assertLess(report["requests"], 300)
                self.assertGreater(report["cancelled"], 3)
                self.assertGreater(report["input_tokens"], 350 * report["ok"])
                self.assertEqual(report["simulation"]["seed"], 5)

    def test_a_load_file_and_flags_over_it(self):
        load = self.file("load: {isl: 300, osl: 7, num_requests: 10}\n", "load.yaml")
        report = self.report("--load", load, "--osl", "9")
        self.assertEqual((report["ok"], report["input_tokens"], report["output_tokens"]),
                         (10, 3000, 90))

    def test_load_files_are_bounded(self):
        load = self.file("# " + "x" * (256 << 10) + "\nload: {isl: 300}\n", "load.yaml")
        for command in ("simulate", "traffic", "plan"):
            said = self.fail_with(2, command, "--load", load)
            self.assertIn(f"{load}: larger than 256 KiB", said)
        self.assertIn("/dev/zero", self.fail_with(2, "simulate", "--load", "/dev/zero"))

    def test_sweep_and_compare_take_load_flags(self):
        plan = self.file(PLAN)
        load = ["--trace", os.path.join(TRACES, "mooncake.jsonl"), "--goodput", "ttft:100000"]
        rows = json.loads(self.succeed("simulate", "sweep", "--config", plan, "--vary",
                                       "prefill.engines=1,2", *load, "--json").stdout)
        self.assertEqual([row["gpus"] for row in rows], [6, 8])
        for row in rows:
            self.assertGreater(row["hit_share"], 0.3)  # block by block, not the plan's 0.5
            self.assertLess(row["hit_share"], 0.45)
        both = json.loads(self.succeed("simulate", "compare", plan, plan, *load, "--json").stdout)
        self.assertEqual(both["a"], both["b"])
        said = self.fail_with(2, "simulate", "sweep", "--config", plan, "--vary",
                              "workload.request_rate=1,2", "--request-rate", "3")
        self.assertIn("--request-rate replaces the values of --vary workload.request_rate", said)

    def test_engines_have_reports_and_sweeps(self):
        plan = self.file(ENGINES)
        page, trace = (os.path.join(self.directory.name, name) for name in ("r.html", "t.json"))
        self.report("--config", plan, "--report", page, "--perfetto", trace)
        with open(page) as file:
            text = file.read()
        self.assertIn("2 engine(s)", text)
        self.assertIn("KV of rows", text)
        with open(trace) as file:
            events = json.load(file)["traceEvents"]
        names = {event["name"] for event in events if event["ph"] == "X"}
        self.assertLessEqual({"front end", "queued", "prefill", "decode"}, names)
        rows = json.loads(self.succeed("simulate", "sweep", "--config", plan, "--vary",
                                       "engines.count=1,2", "--json").stdout)
        self.assertEqual([row["gpus"] for row in rows], [1, 2])
        both = json.loads(self.succeed("simulate", "compare", plan, self.file(PLAN, "b.yaml"),
                                       "--json").stdout)
        self.assertEqual((both["a"]["gpus"], both["b"]["gpus"]), (2, 8))
        said = self.fail_with(2, "simulate", "--config", self.file(
            ENGINES + "faults: [{at_ms: 1, kill: engine, which: 0}]\n", "faults.yaml"))
        self.assertIn("faults.yaml:4: unknown key", said)

    def test_one_file_cannot_be_both(self):
        page = os.path.join(self.directory.name, "run.html")
        other = os.path.join(self.directory.name, ".", "run.html")
        said = self.fail_with(2, "simulate", "--config", self.file(PLAN), "--report", page,
                              "--perfetto", other)
        self.assertIn("--report and --perfetto name the same file", said)
        self.assertFalse(os.path.exists(page))

    def test_a_trace_that_breaks_off_is_bad_input(self):
        row = '{"timestamp": %d, "input_length": 900, "output_length": 5}\n'
        text = "".join(row % (i * 10) for i in range(20_000))
        cut = os.path.join(self.directory.name, "cut.jsonl.gz")
        whole = gzip.compress(text.encode())
        with open(cut, "wb") as file:
            file.write(whole[:len(whole) // 2])
        long = self.file(row % 0 + "x" * (9 << 20), "long.jsonl")
        for trace in (cut, long):
            for plan in ((), ("--config", self.file(PLAN)), ("--config", self.file(ENGINES))):
                with self.subTest(trace=trace, plan=plan):
                    said = self.fail_with(2, "simulate", "--trace", trace, "--speed", "0.5", *plan)
                    self.assertIn(trace + ":", said)

    def test_what_no_simulation_plays_is_refused(self):
        for words in (["--tools", "2"], ["--image-share", "1", "--image-size", "8x8"]):
            self.assertIn(words[0], self.fail_with(2, "simulate", *words))

    def test_replays_repeat_the_load(self):
        """What is printed of a run that broke a rule says its load again."""
        plan = self.file(PLAN)
        run = self.report("--config", plan, "--phase", "1:20", "--isl", "exponential:900")
        again = self.report("--config", plan, "--phase", "1:20", "--isl", "exponential:900")
        self.assertEqual(run["simulation"]["trace_hash"], again["simulation"]["trace_hash"])

    def test_mistyped_keys_and_values_are_refused(self):
        """Cases config-01 and config-03: the file, the line, the key and the one that was meant."""
        for text, line, parts in (
                ("prefill: {engines: 2}\ndecode:\n  rank: 4\n", 3, ("decode.rank", "ranks")),
                ("prefil: {engines: 2}\nworkload: {isl: 9}\n", 1, ("prefil", "prefill")),
                ("decode: {ranks: 4}\nworklaod: {isl: 9}\n", 2, ("worklaod", "workload")),
                ("decode: {ranks: 4}\nconstants: {nic_gbs: 4}\n", 2, ("nic_gbs", "nic_gb_s")),
                ("gateway:\n  keepalive-timeout: 90\n", 2, ("keepalive-timeout", "keepalive_timeout")),
        ):
            with self.subTest(text=text):
                path = self.file(text)
                said = self.fail_with(2, "simulate", "--config", path)
                self.assertIn(f"{path}:{line}", said)
                for part in parts:
                    self.assertIn(part, said)
        path = self.file("decode: {policy: balnaced}\n")
        self.assertIn("there are balanced", self.fail_with(2, "simulate", "--config", path))
        path = self.file("name: x\nworklaod: {isl: 9}\n", "scenario.yaml")
        self.assertIn(f"{path}:2: unknown key scenario.worklaod; the nearest is workload",
                      self.fail_with(2, "simulate", "--scenario", path))
        path = self.file("load: {islt: 9}\n", "load.yaml")
        self.assertIn("the nearest is isl", self.fail_with(2, "simulate", "--load", path))


if __name__ == "__main__":
    unittest.main()
