"""Each subcommand of `troupe` does its work on a real node, and failures say what to do."""

import json
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import SOURCE, Node, Scripts, events, free_port, text_of, troupe

SCRIPTED = ["--config", os.path.join(SOURCE, "config", "scripted.yaml")]
HELLO = "Hello, this is a script, not a model."  # config/scripts/hello.json, a token a byte


def table(text):
    """The lines behind a header, as dictionaries; columns are two or more spaces apart."""
    header, *lines = text.strip().splitlines()
    names = re.split(r"\s{2,}", header.strip())
    return [dict(zip(names, line.split(), strict=True)) for line in lines]


class CommandTest(unittest.TestCase):
    def succeed(self, *arguments, **options):
        run = troupe(*arguments, **options)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run

    def fail_with(self, code, *arguments, **options):
        """What the command says when it fails, without its log."""
        run = troupe(*arguments, **options)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        said = [line for line in run.stderr.splitlines() if line.startswith("troupe: ")]
        self.assertTrue(said, run.stderr)
        return "\n".join(said)


class ClientTest(CommandTest):
    """chat, traffic and admin, against the node of config/scripted.yaml."""

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

    def admin(self, *arguments):
        return self.succeed(
            "admin", "--url", f"http://127.0.0.1:{self.node.admin_port}", *arguments).stdout

    def chat(self, *arguments, **options):
        return self.succeed(
            "chat", "--url", self.url, "--served-model-name", "script/hello", *arguments, **options)

    def open_stream(self):
        """A stream that never ends. Returns (connection, response, the request's id)."""
        connection, response = self.node.stream("script/stall")
        self.addCleanup(connection.close)
        return connection, response, json.loads(next(events(response)))["id"]

    def test_chat_once(self):
        run = self.chat("hi")
        self.assertEqual(run.stdout, HELLO + "\n")
        said = re.fullmatch(
            r"\[TTFT (\d+) ms, ([\d.]+) tokens/s, (\d+) tokens\]\n", run.stderr)
        self.assertIsNotNone(said, run.stderr)
        self.assertEqual(int(said[3]), len(HELLO))
        self.assertGreaterEqual(int(said[1]), 5)  # the script's first delay
        self.assertEqual(self.chat("--max-tokens", "5", "hi").stdout, "Hello\n")

    def test_chat_as_a_conversation(self):
        run = self.chat(typed="hi\nagain\n/reset\nhi\n/quit\n")
        self.assertEqual(run.stdout.count(HELLO), 3)

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

    def test_traffic_of_failures_fails(self):
        run = troupe("traffic", "--url", self.url, "--model", "nobody", "--num-requests", "5",
                     "--json")
        self.assertEqual(run.returncode, 1)
        result = json.loads(run.stdout)
        self.assertEqual((result["ok"], result["failed"], result["error_share"]), (0, 5, 1))
        self.assertEqual([(404, 5)], [(int(re.search(r"\d+", error)[0]), count)
                                      for error, count in result["errors"].items()])

    def test_admin_ps(self):
        actors = table(self.admin("ps"))
        kinds = sorted(actor["KIND"] for actor in actors)
        self.assertEqual(kinds, ["endpoint", "gateway", "node", "rank", "responses", "streams"])
        for actor in actors:
            self.assertRegex(actor["ID"], r"^[0-9a-f]{16}-1$")
            self.assertEqual(int(actor["MAILBOX"]), 0)
        _, _, id = self.open_stream()
        request, = table(self.admin("ps", "--kind", "request"))
        self.assertEqual((request["KIND"], request["PHASE"]), ("request", "running"))
        self.assertGreaterEqual(int(request["IN"]), 1)
        listed = json.loads(self.admin("ps", "--json"))["actors"]
        self.assertIn(request["ID"], [actor["id"] for actor in listed])
        self.admin("cancel", id)

    def test_admin_top(self):
        self.chat("hi")
        rounds = re.split(r"^(\d+) actors at (\S+), every 0\.2 s; Ctrl-C ends\n",
                          self.admin("top", "--rounds", "2", "--interval", "0.2"), flags=re.M)
        self.assertEqual(rounds[0], "")
        for number, text in enumerate(rounds[3::3]):
            self.assertRegex(text, r"^ranks 1 \| running 0, waiting 0 \| KV 0\.0% \| device idle ")
            self.assertEqual("generated tokens/s" in text, number == 1)
        rounds[3::3] = [text.split("\n", 1)[1] for text in rounds[3::3]]
        self.assertEqual(rounds[1::3], ["6", "6"])
        first, second = (table(text) for text in rounds[3::3])
        self.assertEqual({actor["ID"] for actor in first}, {actor["ID"] for actor in second})
        for actor in second:
            self.assertGreaterEqual(float(actor["IN/s"]), 0)
            self.assertLessEqual(float(actor["BUSY%"]), 200)

    def test_admin_show(self):
        _, _, id = self.open_stream()
        request, = table(self.admin("ps", "--kind", "request"))
        lines = dict(line.split(maxsplit=1) for line in
                     self.admin("show", request["ID"][:8]).splitlines())
        self.assertEqual((lines["id"], lines["model"]), (request["ID"], "script/stall"))
        shown = json.loads(self.admin("show", request["ID"][:8], "--json"))
        self.assertEqual(shown["actor"]["id"], request["ID"])
        state = dict(part.split("=") for part in shown["state"].split())
        self.assertEqual(int(state["request"]), int(id.removeprefix("chatcmpl-"), 16))
        self.assertEqual(state["model"], "script/stall")
        self.admin("cancel", id)
        said = self.fail_with(2, "admin", "--url", f"http://127.0.0.1:{self.node.admin_port}",
                              "show", "nobody")
        self.assertIn("nobody", said)

    def test_admin_nodes(self):
        header, line = (re.split(r"\s{2,}", text.strip())
                        for text in self.admin("nodes").strip().splitlines())
        row = dict(zip(header, line, strict=True))
        self.assertEqual((row["LINK"], row["STATE"], row["ROLES"]),
                         ("this node", "up", "gateway,rank"))
        node, = json.loads(self.admin("nodes", "--json"))["nodes"]
        self.assertEqual((node["state"], node["roles"], node["actors"]), ("up", "gateway,rank", 6))
        self.assertIn("script/NAME", node["about"])

    def test_admin_cancel(self):
        for way in ("id", "number", "actor"):
            connection, response, id = self.open_stream()
            request, = table(self.admin("ps", "--kind", "request"))
            name = {"id": id, "number": str(int(id.removeprefix("chatcmpl-"), 16)),
                    "actor": request["ID"]}[way]
            answer = json.loads(self.admin("cancel", name))
            self.assertEqual(answer, {"status": "cancelling"})
            text, reason, done = text_of(response)
            self.assertEqual(text, "Then nothing comes")
            self.assertEqual((reason["code"], done), ("cancelled", False))
            self.node.wait_idle(2)
        for unknown, words in (("nonsense", "chatcmpl-"), (id, "may have ended"), ("7", "may have")):
            said = self.fail_with(2, "admin", "--url", f"http://127.0.0.1:{self.node.admin_port}",
                                  "cancel", unknown)
            self.assertIn(words, said)

    def test_admin_drain(self):
        scripts = Scripts()
        self.addCleanup(scripts.close)
        scripts.text("slow", "", delay_ms=50, pieces=list("abcdefghijklmnopqrst"))
        node = Node(SCRIPTED + scripts.arguments()).wait_ready()
        try:
            connection, response = node.stream("script/slow")
            next(events(response))
            answers = []
            reader = threading.Thread(target=lambda: answers.append(text_of(response)))
            reader.start()
            run = self.succeed("admin", "--url", f"http://127.0.0.1:{node.admin_port}", "drain")
            self.assertEqual(json.loads(run.stdout), {"status": "draining"})
            self.assertEqual(node.process.wait(10), 0)  # by itself
            reader.join(10)
            self.assertEqual(answers, [("abcdefghijklmnopqrst", "stop", True)])
            connection.close()
        finally:
            self.assertEqual(node.stop(), 0)


class LocalTest(CommandTest):
    """Commands that need no node."""

    def simulate(self, seed):
        run = self.succeed("simulate", "--concurrency", "4", "--num-requests", "50", "--isl", "200",
                           "--osl", "20", "--seed", str(seed), "--json")
        return json.loads(run.stdout)

    def test_simulate(self):
        one, two, other = self.simulate(7), self.simulate(7), self.simulate(8)
        self.assertEqual((one["requests"], one["ok"], one["failed"]), (50, 50, 0))
        self.assertEqual((one["input_tokens"], one["output_tokens"]), (50 * 200, 50 * 20))
        self.assertEqual(one["concurrency_peak"], 4)
        self.assertGreater(one["ttft_ms"]["min"], 20)  # a prefill step takes 22 ms
        self.assertRegex(one["simulation"]["Trace hash"], r"^[0-9a-f]{16}$")
        self.assertEqual(one["simulation"]["Trace hash"], two["simulation"]["Trace hash"])
        self.assertNotEqual(one["simulation"]["Trace hash"], other["simulation"]["Trace hash"])
        self.assertEqual(one["e2el_ms"], two["e2el_ms"])

    def test_simulate_without_load_runs_one_at_a_time(self):
        alone = json.loads(self.succeed("simulate", "--num-requests", "5", "--json").stdout)
        self.assertEqual(alone["concurrency_peak"], 1)

    def test_model_list_and_show(self):
        listed = self.succeed("model", "list").stdout
        if "not fetched" in listed:
            self.skipTest("smollm2 is not in the cache")
        name, size, unit, state, path = listed.splitlines()[0].split()
        self.assertEqual((name, size, unit, state), ("smollm2", "98", "MB", "valid"))
        shown = dict(re.split(r"\s{2,}", line, maxsplit=1)
                     for line in self.succeed("model", "show", "smollm2").stdout.splitlines())
        self.assertEqual(shown["file"], path)
        self.assertEqual(int(shown["bytes"]), os.path.getsize(path))
        self.assertEqual((shown["architecture"], int(shown["layers"]), int(shown["context"])),
                         ("llama", 30, 8192))
        self.assertEqual(int(shown["parameters"]), 134_515_008)
        tensors = re.findall(r"(\d+) [FQ]", shown["tensors"])
        self.assertEqual(sum(int(count) for count in tensors), 272)

    def test_version(self):
        said = dict(line.split(maxsplit=1)
                    for line in self.succeed("version").stdout.strip().splitlines())
        with open(os.path.join(SOURCE, "CMakeLists.txt")) as file:
            version = re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", file.read())
        self.assertEqual(said["troupe"], version[1])
        self.assertTrue(said["build"])
        self.assertRegex(said["compiler"], r"\d+\.\d+")


class FailureTest(CommandTest):
    """Exit code 1; it names what is wrong and says what to do."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="troupe-commands-")
        self.addCleanup(self.directory.cleanup)

    def write(self, name, content):
        path = os.path.join(self.directory.name, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def node_fails(self, *arguments, port=0, admin_port=0, environment=None):
        return self.fail_with(1, "node", "--port", str(port), "--admin-port", str(admin_port),
                              *arguments, environment=environment)

    def taken_port(self):
        taken = socket.socket()
        self.addCleanup(taken.close)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        return taken.getsockname()[1]

    def test_port_in_use(self):
        port = self.taken_port()
        said = self.node_fails(*SCRIPTED, port=port)
        self.assertIn(f"port {port} is in use", said)
        self.assertIn("choose another with --port or", said)

    def test_admin_port_in_use(self):
        port = self.taken_port()
        said = self.node_fails(*SCRIPTED, admin_port=port)
        self.assertIn(f"port {port} is in use", said)
        self.assertIn("--admin-port", said)
        self.assertNotIn("with --port", said)  # that would not help

    def test_missing_model_file(self):
        missing = os.path.join(self.directory.name, "none.gguf")
        for said in (self.node_fails("--model", missing),
                     self.fail_with(1, "model", "show", missing)):
            self.assertIn(missing, said)
            self.assertIn("known are: smollm2", said)

    def test_known_model_that_was_not_fetched(self):
        empty = {"TROUPE_CACHE": self.directory.name}
        for said in (self.node_fails("--model", "smollm2", environment=empty),
                     self.fail_with(1, "model", "show", "smollm2", environment=empty)):
            self.assertIn("troupe model pull smollm2", said)
        self.assertIn("troupe model pull smollm2",
                      self.succeed("model", "list", environment=empty).stdout)

    def test_wrong_gguf_is_named(self):
        for name, content, reason in (
                ("text.gguf", b"this is a text", "not a GGUF file"),
                ("empty.gguf", b"", "not a file with data in it"),
                ("future.gguf", b"GGUF" + struct.pack("<IQQ", 99, 0, 0), "versions 2 and 3"),
                ("cut.gguf", b"GGUF" + struct.pack("<IQQ", 3, 1, 1), "byte")):
            with self.subTest(name):
                path = self.write(name, content)
                for said in (self.node_fails("--model", path),
                             self.fail_with(1, "model", "show", path)):
                    self.assertIn(path, said)
                    self.assertIn(reason, said)

    def test_wrong_gguf_says_what_to_do(self):
        said = self.node_fails("--model", self.write("text.gguf", b"this is a text"))
        self.assertRegex(said, r"--model|troupe model")

    def test_nobody_there(self):
        url = f"http://127.0.0.1:{free_port()}"
        self.assertIn(url[7:], self.fail_with(1, "chat", "--url", url, "hi"))
        self.assertIn("is it running", self.fail_with(1, "admin", "--url", url, "ps"))
        said = self.fail_with(1, "traffic", "--url", url, "--num-requests", "2", "--json")
        self.assertIn("nobody answers at " + url[7:], said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
