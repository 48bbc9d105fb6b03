"""Each subcommand of `troupe` does its work on a real node, and failures say what to do."""

import http.client
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import PROGRAM, SOURCE, Node, Scripts, events, free_port, text_of, troupe

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

    def test_traffic_names_the_code_of_a_cancelled_stream(self):
        run = subprocess.Popen(
            [PROGRAM, "traffic", "--url", self.url, "--model", "script/stall", "--num-requests",
             "1", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.node.wait_until(
            lambda: "running" in self.admin("ps", "--kind", "request"), 10, "the request runs")
        self.assertIn("0 ended, 1 under way", run.stderr.readline())  # after 10 s
        self.admin("cancel", table(self.admin("ps", "--kind", "request"))[0]["REQUEST"])
        result = json.loads(run.communicate(timeout=30)[0])
        self.assertEqual(result["errors"], {"the stream ended with cancelled": 1})

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
        self.assertIn((request["ID"], id), [(actor["id"], actor["request"]) for actor in listed])
        self.assertEqual(request["REQUEST"], id)
        self.admin("cancel", id)
        said = self.admin_fails("ps", "--kind", "nope")
        self.assertIn("endpoint, gateway, node, rank, request, responses, streams", said)

    def admin_fails(self, *arguments):
        return self.fail_with(
            2, "admin", "--url", f"http://127.0.0.1:{self.node.admin_port}", *arguments)

    def test_admin_at_the_http_port(self):
        for arguments in (["ps"], ["drain"], ["cancel", "7"]):
            said = self.fail_with(2, "admin", "--url", self.url, *arguments)
            self.assertIn("HTTP port", said)
            self.assertIn("--admin-port", said)

    def test_admin_top(self):
        self.chat("hi")
        rounds = re.split(r"^(\d+) actors at (\S+), every 0\.2 s; Ctrl-C ends\n",
                          self.admin("top", "--rounds", "2", "--interval", "0.2"), flags=re.M)
        self.assertEqual(rounds[0], "")
        for number, text in enumerate(rounds[3::3]):
            self.assertRegex(text, r"^ranks 1 \| running 0, waiting 0 \| KV 0\.0%")
            self.assertEqual("device busy 0%" in text, number == 1, text)
            self.assertEqual("generated tokens/s" in text, number == 1)
        rounds[3::3] = [text.split("\n", 1)[1] for text in rounds[3::3]]
        self.assertEqual(rounds[1::3], ["6", "6"])
        first, second = (table(text) for text in rounds[3::3])
        self.assertEqual({actor["ID"] for actor in first}, {actor["ID"] for actor in second})
        for actor in second:
            self.assertGreaterEqual(float(actor["IN/s"]), 0)
            self.assertLessEqual(float(actor["ACTOR%"]), 200)

    def test_admin_show(self):
        _, _, id = self.open_stream()
        request, = table(self.admin("ps", "--kind", "request"))
        lines = dict(line.split(maxsplit=1) for line in
                     self.admin("show", request["ID"][:8]).splitlines())
        self.assertEqual((lines["id"], lines["request"], lines["model"]),
                         (request["ID"], id, "script/stall"))
        shown = json.loads(self.admin("show", request["ID"][:8], "--json"))
        self.assertEqual(shown["actor"]["id"], request["ID"])
        state = dict(part.split("=") for part in shown["state"].split())
        self.assertEqual(state["model"], "script/stall")
        in_logs = "123.7/" + request["ID"].replace("-", "#")
        for name in (in_logs, id, id.removeprefix("chatcmpl-"), "request"):
            self.assertIn(request["ID"], self.admin("show", name))
        self.assertRegex(self.admin("show", "gateway"), r"kind +gateway\n")
        self.admin("cancel", id)
        self.assertIn("nobody", self.admin_fails("show", "nobody"))

    def test_admin_nodes(self):
        header, line = (re.split(r"\s{2,}", text.strip())
                        for text in self.admin("nodes").strip().splitlines())
        row = dict(zip(header, line, strict=True))
        self.assertEqual((row["LINK"], row["STATE"], row["ROLES"]),
                         ("this node", "up", "gateway,rank"))
        node, = json.loads(self.admin("nodes", "--json"))["nodes"]
        self.assertEqual((node["state"], node["roles"], node["actors"]), ("up", "gateway,rank", 6))
        self.assertIn("script/NAME", node["about"])

    def cancel_answer(self, path, prefix):
        """Ends a stream of another protocol by the id that its client sees."""
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=60)
        self.addCleanup(connection.close)
        turn = [{"role": "user", "content": "hi"}]
        body = {"model": "script/stall", "stream": True, "max_tokens": 100, "messages": turn}
        if path == "responses":
            body = {"model": "script/stall", "stream": True, "input": turn}
        connection.request("POST", f"/v1/{path}", json.dumps(body),
                           {"content-type": "application/json"})
        response = connection.getresponse()
        first = json.loads(next(events(response)))
        id = first["response" if path == "responses" else "message"]["id"]
        self.assertTrue(id.startswith(prefix), id)
        self.assertEqual(json.loads(self.admin("cancel", id, "--json")), {"status": "cancelling"})
        self.assertTrue(any("by an operator" in data for data in events(response)))
        self.node.wait_idle(2)

    def test_admin_cancel(self):
        for way in ("id", "digits", "number", "actor", "log"):
            connection, response, id = self.open_stream()
            request, = table(self.admin("ps", "--kind", "request"))
            digits = id.removeprefix("chatcmpl-")
            name = {"id": id, "digits": digits, "number": str(int(digits, 16)),
                    "actor": request["ID"], "log": request["ID"].replace("-", "#")}[way]
            self.assertRegex(self.admin("cancel", name), r"^cancelling: .*\n$")
            text, reason, done = text_of(response)
            self.assertEqual(text, "Then nothing comes")
            self.assertEqual((reason["code"], done), ("cancelled", False))
            self.node.wait_idle(2)
        for path, prefix in (("responses", "resp_"), ("messages", "msg_")):
            with self.subTest(path=path):
                self.cancel_answer(path, prefix)
        for unknown, words in (("nonsense", "chatcmpl-"), (id, "may have ended"), ("7", "may have")):
            self.assertIn(words, self.admin_fails("cancel", unknown))

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
            self.assertIn("draining: ", run.stdout)
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
        self.assertRegex(one["simulation"]["trace_hash"], r"^[0-9a-f]{16}$")
        self.assertEqual(one["simulation"]["trace_hash"], two["simulation"]["trace_hash"])
        self.assertNotEqual(one["simulation"]["trace_hash"], other["simulation"]["trace_hash"])
        facts = one["simulation"]
        self.assertAlmostEqual(facts["virtual_duration_s"], one["duration_s"], places=5)
        # The wall time is a fraction of a millisecond, written to a microsecond.
        self.assertAlmostEqual(
            facts["speed_up"] * facts["wall_time_s"] / facts["virtual_duration_s"], 1, places=2)
        self.assertEqual((facts["seed"], facts["nodes"], facts["gpus_per_node"]), (7, 1, 1))
        self.assertTrue(all("published" in cost for cost in facts["costs"][::2]), facts["costs"])
        self.assertEqual(one["e2el_ms"], two["e2el_ms"])

    def test_simulate_takes_the_flags_of_node_and_traffic(self):
        load = ["--num-requests", "3", "--json"]
        self.fail_with(2, "simulate", "--osl-spread", "17", "--osl-stddev", "10")
        for flag, value in (("--nodes", "0"), ("--ranks", "0"), ("--ranks", "4000000000"),
                            ("--blocks", "0"), ("--max-num-seqs", "0"),
                            ("--max-num-batched-tokens", "0")):
            self.assertIn(flag, self.fail_with(2, "simulate", flag, value, *load))
        hashes = [json.loads(self.succeed("simulate", *flags, *load).stdout)["simulation"]
                  ["trace_hash"] for flags in ([], ["--async"], ["--no-async"])]
        self.assertEqual(hashes[0], hashes[1])
        self.assertNotEqual(hashes[0], hashes[2])

    def test_simulate_says_which_constants_a_file_set(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("simulated: {prefill_base: 1ms, decode_context: 1us}\n")
            config.flush()
            command = ["simulate", "--num-requests", "3", "--config", config.name]
            costs = json.loads(self.succeed(*command, "--json").stdout)["simulation"]["costs"]
            table = self.succeed(*command).stdout
        prefill, context, decode, rows, _ = costs
        self.assertIn(f"prefill a = 1.000 ms/step, b = 10.838 us/token; set by {config.name}", prefill)
        self.assertNotIn("fit to", prefill)
        self.assertIn("fit to a published", decode)
        self.assertIn(f"set by {config.name}", rows)
        framed = [line for line in table.splitlines() if " " in line and "/" not in line]
        self.assertLessEqual(max(map(len, framed)), 60, table)

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

    def test_recipe(self):
        request = json.dumps({"model": "smollm2", "messages": [{"role": "user", "content": "Hi"}]})
        prompt = self.succeed("recipe", "render", "--text", typed=request).stdout
        self.assertIn("<|im_start|>user\nHi<|im_end|>\n", prompt)
        self.assertNotIn("\x1b", prompt)  # not a terminal
        stream = json.dumps({
            "kind": "stream", "protocol": "chat", "input": {
                "request": json.loads(request), "tokenizer": None,
                "chunks": [{"ready": {"prompt_tokens": 3}}, {"text": "Hello", "token_count": 1},
                           {"finish": "stop"}]}})
        lines = self.succeed("recipe", "parse", "--text", typed=stream).stdout.splitlines()
        self.assertEqual(lines[-2:], ["data: [DONE]", ""])
        for command, typed, words in (
                ("parse", request, "stdin:1: recipe parse shows vectors of kind stream, found a req"),
                ("encode", "\n" + stream, "stdin:2: recipe encode shows vectors of kind encode"),
                ("encode", "[]", "stdin:1: expected a request or a vector"),
                ("render", "{", "stdin:1: not a vector")):
            self.assertIn(words, self.fail_with(2, "recipe", command, typed=typed))
        run = troupe("recipe", "check", typed=request)
        self.assertEqual(run.returncode, 1)
        self.assertIn("stdin:1: expect", run.stdout)

    def test_version(self):
        said = dict(line.split(maxsplit=1)
                    for line in self.succeed("version").stdout.strip().splitlines())
        with open(os.path.join(SOURCE, "CMakeLists.txt")) as file:
            version = re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", file.read())
        self.assertEqual(said["troupe"], version[1])
        self.assertEqual(self.succeed("--version").stdout, f"troupe {version[1]}\n")
        self.assertTrue(said["build"])
        self.assertRegex(said["compiler"], r"\d+\.\d+")


class FailureTest(CommandTest):
    """It names what is wrong and says what to do; exit code 2 if what was named must be changed."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="troupe-commands-")
        self.addCleanup(self.directory.cleanup)

    def write(self, name, content):
        path = os.path.join(self.directory.name, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def node_fails(self, *arguments, port=0, admin_port=0, code=1, environment=None):
        return self.fail_with(code, "node", "--port", str(port), "--admin-port", str(admin_port),
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
        for said in (self.node_fails("--model", missing, code=2),
                     self.fail_with(2, "model", "show", missing)):
            self.assertIn(missing, said)
            self.assertIn("known are: smollm2", said)

    def test_missing_files_of_other_commands(self):
        missing = os.path.join(self.directory.name, "none")
        for command in (["node", "--config", missing], ["simulate", "--scenario", missing],
                        ["simulate", "--config", missing], ["simulate", "--timing", missing],
                        ["recipe", "encode", missing], ["recipe", "check", missing]):
            with self.subTest(command=command):
                self.assertIn(missing, self.fail_with(2, *command))

    def test_roles_that_serve_nothing_alone(self):
        self.assertIn("--cluster-listen", self.node_fails("--roles", "gateway", code=2))

    def test_a_tokenizer_is_no_model_to_serve(self):
        said = self.node_fails("--model", "deepseek-v4", code=2)
        self.assertIn("without weights", said)
        self.assertIn("--script-recipe deepseek-v4", said)

    def test_max_model_len_above_the_context(self):
        if "not fetched" in self.succeed("model", "list").stdout.splitlines()[0]:
            self.skipTest("smollm2 is not in the cache")
        said = self.node_fails("--max-model-len", "8193", code=2)
        self.assertRegex(said, r"at most 8192,.* found 8193")

    def test_known_model_that_was_not_fetched(self):
        empty = {"TROUPE_CACHE": self.directory.name}
        for said in (self.node_fails("--model", "smollm2", code=2, environment=empty),
                     self.fail_with(2, "model", "show", "smollm2", environment=empty)):
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
