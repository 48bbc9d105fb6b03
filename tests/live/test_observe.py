"""The access log and traces of a running node: one line a request, whatever became of it."""

import http.client
import json
import os
import signal
import socket
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts, troupe

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
SECRET = "a text that nobody may see in a log"


def make_scripts():
    scripts = Scripts()
    scripts.text("quick", "hello there")
    scripts.text("paced", "", delay_ms=20, pieces=[f"w{i} " for i in range(40)])
    scripts.add("mute", [], "stall")
    return scripts


class LogTest(unittest.TestCase):
    arguments = []

    @classmethod
    def setUpClass(cls):
        cls.scripts = make_scripts()
        cls.folder = tempfile.TemporaryDirectory(prefix="troupe-access-")
        cls.log = os.path.join(cls.folder.name, "access.jsonl")
        cls.node = Node(cls.scripts.arguments() + ["--access-log", cls.log] + cls.extra()).wait_ready()

    @classmethod
    def extra(cls):
        return []

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        cls.scripts.close()
        cls.folder.cleanup()
        assert code == 0, code

    def setUp(self):
        self.seen = len(self.lines())

    def lines(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log) as file:
            return [json.loads(line) for line in file.read().splitlines()]

    def wait_lines(self, count, seconds=5):
        """Those since the test began, once there are so many; a moment later there are no more."""
        self.node.wait_until(lambda: len(self.lines()) >= self.seen + count, seconds,
                             f"{count} lines: {self.lines()[self.seen:]}")
        time.sleep(0.3)
        found = self.lines()[self.seen:]
        self.assertEqual(len(found), count, found)
        return found

    def raw(self, data, shut=True):
        with socket.create_connection(("127.0.0.1", self.node.port), 10) as client:
            client.settimeout(10)
            client.sendall(data)
            if shut:
                client.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := client.recv(65536):
                answer += piece
            return answer


class AccessLogTest(LogTest):
    def test_a_whole_answer(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=10)
        body = {"model": "script/quick", "messages": [{"role": "user", "content": SECRET}]}
        connection.request("POST", "/v1/chat/completions?api_key=hidden", json.dumps(body),
                           {"x-request-id": "mine-1", "authorization": "Bearer hidden"})
        response = connection.getresponse()
        answer = json.loads(response.read())
        line = self.wait_lines(1)[0]
        self.assertEqual(line["request_id"], answer["id"])
        self.assertEqual(line["request_id"], response.getheader("x-request-id"))
        self.assertEqual(line["client_request_id"], "mine-1")
        self.assertEqual((line["method"], line["path"]), ("POST", "/v1/chat/completions"))
        self.assertEqual((line["protocol"], line["model"]), ("chat", "script/quick"))
        self.assertEqual((line["status"], line["stream"], line["finish"]), (200, False, "stop"))
        self.assertEqual(line["prompt_tokens"], answer["usage"]["prompt_tokens"])
        self.assertEqual(line["output_tokens"], answer["usage"]["completion_tokens"])
        self.assertEqual(line["bytes_out"], int(response.getheader("content-length")))
        self.assertGreaterEqual(line["total_ms"], line["ttft_ms"])
        self.assertAlmostEqual(line["ttft_ms"], line["queue_ms"] + line["prefill_ms"], 2)
        text = open(self.log).read()
        self.assertNotIn(SECRET, text)
        self.assertNotIn("hidden", text)
        self.assertNotIn("hello there", text)

    def test_a_stream_and_one_whose_client_leaves(self):
        connection, response = self.node.stream("script/paced")
        size = len(response.read())
        connection.close()
        connection, response = self.node.stream("script/paced")
        response.read(400)
        response.close()
        connection.close()
        whole, left = self.wait_lines(2)
        self.assertEqual((whole["status"], whole["stream"], whole["finish"]), (200, True, "stop"))
        self.assertEqual(whole["bytes_out"], size)
        self.assertGreater(whole["decode_ms"], 20 * 30)
        self.assertEqual((left["status"], left["finish"]), (499, "cancelled"))
        self.assertGreater(left["output_tokens"], 0)
        self.assertLess(left["output_tokens"], whole["output_tokens"])

    def test_a_client_that_leaves_before_the_first_token(self):
        connection = socket.create_connection(("127.0.0.1", self.node.port), 10)
        body = json.dumps({"model": "script/mute", "messages": [{"role": "user", "content": "x"}]})
        connection.sendall(f"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: "
                           f"{len(body)}\r\n\r\n{body}".encode())
        time.sleep(0.2)
        connection.close()
        line = self.wait_lines(1)[0]
        self.assertEqual((line["status"], line["finish"], line["model"]),
                         (499, "cancelled", "script/mute"))
        self.assertIsNone(line["ttft_ms"])

    def test_what_is_refused(self):
        post = "POST {} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{}"
        cases = [
            ("/v1/chat/completions", "{bad", 400, "invalid_json"),
            ("/nothing", "", 404, "not_found"),
            ("/v1/models", "", 405, "method_not_allowed"),
        ]
        for path, body, status, code in cases:
            answer = self.raw(post.format(path, len(body), body).encode(), shut=False)
            self.assertIn(f" {status} ".encode(), answer[:16])
            line = self.wait_lines(1)[0]
            self.assertEqual((line["path"], line["status"], line["error"]), (path, status, code))
            self.seen += 1
        self.raw(b"POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999\r\n\r\n")
        line = self.wait_lines(1)[0]
        self.assertEqual((line["status"], line["error"]), (413, "request_too_large"))
        self.assertEqual(line["protocol"], "messages")
        self.seen += 1
        self.raw(b"\x16\x03\x01 nonsense\r\n\r\n")
        line = self.wait_lines(1)[0]
        self.assertEqual((line["status"], line["path"]), (400, None))

    def test_several_requests_on_one_connection(self):
        request = "GET /v1/models/{} HTTP/1.1\r\nhost: a\r\n\r\n"
        self.raw("".join(request.format(i) for i in range(20)).encode())
        self.assertEqual([line["path"] for line in self.wait_lines(20)],
                         [f"/v1/models/{i}" for i in range(20)])

    def test_nobody_forges_a_line(self):
        path = '/v1/models/"},{"status":1'
        self.raw(f"GET {path} HTTP/1.1\r\nhost: a\r\nx-request-id: \x80\xff\"{{\t\r\n\r\n".encode("latin-1"))
        line = self.wait_lines(1)[0]
        self.assertEqual(line["path"], path)

    def test_health_has_no_lines(self):
        for path in ("/health", "/live", "/ready", "/metrics"):
            self.node.get(path)
        self.node.get("/version")
        self.assertEqual(self.wait_lines(1)[0]["path"], "/version")

    def test_the_file_is_rotated(self):
        self.node.get("/version")
        self.wait_lines(1)
        os.rename(self.log, self.log + ".1")
        self.node.process.send_signal(signal.SIGHUP)
        self.node.wait_until(lambda: os.path.exists(self.log), 5, "the new file")
        self.seen = 0
        self.node.get("/version")
        self.wait_lines(1)

    def test_every_request_of_a_crowd_has_its_line(self):
        def some(count):
            connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=30)
            ids = []
            for _ in range(count):
                body = {"model": "script/quick", "messages": [{"role": "user", "content": "x"}]}
                connection.request("POST", "/v1/chat/completions", json.dumps(body))
                ids.append(json.loads(connection.getresponse().read())["id"])
            return ids

        ids = some(500)
        self.assertEqual([line["request_id"] for line in self.wait_lines(500)], ids)
        self.assertEqual(self.node.metric("troupe_access_log_dropped_total"), 0)


class TraceTest(LogTest):
    def ask(self, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=10)
        body = {"model": "script/quick", "messages": [{"role": "user", "content": "x"}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        response.read()
        line = self.wait_lines(1)[0]
        self.seen += 1
        version, trace, span, flags = response.getheader("traceparent").split("-")
        self.assertEqual((version, trace, span), ("00", line["trace_id"], line["span_id"]))
        self.assertEqual(flags == "01", line["sampled"])
        return line

    def test_a_trace_goes_on(self):
        for flags, sampled in (("01", True), ("00", False)):
            line = self.ask(traceparent=f"00-{TRACE}-{PARENT}-{flags}", tracestate="a=b")
            self.assertEqual(line["trace_id"], TRACE)
            self.assertEqual(line["parent_span_id"], PARENT)
            self.assertEqual(line["sampled"], sampled)
            self.assertNotEqual(line["span_id"], PARENT)

    def test_what_is_invalid_begins_a_new_one(self):
        seen = set()
        for header in (f"00-{TRACE.upper()}-{PARENT}-01", f"00-{TRACE}-{PARENT}", "x",
                       f"ff-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01"):
            line = self.ask(traceparent=header)
            self.assertIsNone(line["parent_span_id"])
            self.assertFalse(line["sampled"])
            seen.add(line["trace_id"])
        self.assertEqual(len(seen), 5)
        self.assertNotIn(TRACE, seen)


class TextTest(LogTest):
    @classmethod
    def extra(cls):
        return ["--access-log-text", "64", "--access-log-health"]

    def test_texts_are_there_if_asked(self):
        time.sleep(0.3)  # the lines of its start
        self.seen = len(self.lines())
        self.node.get("/live")
        self.node.chat("script/quick")
        health, line = self.wait_lines(2)
        self.assertEqual(health["path"], "/live")
        self.assertEqual(len(line["request_text"]), 64)
        self.assertEqual(len(line["answer_text"]), 64)


class KeyTest(LogTest):
    @classmethod
    def extra(cls):
        made = troupe("keys", "new", "alice", "--rate", "1")
        text = made.stdout
        words = text.replace('"', " ").replace("'", " ").split()
        cls.key = next(word for word in words if word.startswith("tk-"))
        cls.entry = next(word for word in words if word.startswith("alice"))
        return ["--api-keys", cls.entry]

    def ask(self, key, body="{}"):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=10)
        headers = {"authorization": "Bearer " + key} if key else {}
        connection.request("POST", "/v1/messages", body, headers)
        response = connection.getresponse()
        response.read()
        line = self.wait_lines(1)[0]
        self.seen += 1
        self.assertEqual(line["status"], response.status)
        return line

    def test_tenants_and_refusals(self):
        for key in ("", "sk-wrong"):
            line = self.ask(key)
            self.assertEqual((line["status"], line["error"], line["tenant"]),
                             (401, "invalid_api_key", None))
        line = self.ask(self.key)
        self.assertEqual((line["status"], line["tenant"]), (400, "alice"))
        line = self.ask(self.key)
        self.assertEqual((line["status"], line["error"], line["tenant"]),
                         (429, "rate_limit_exceeded", "alice"))
        text = open(self.log).read()
        self.assertNotIn(self.key, text)
        self.assertNotIn("tk-", text)


class StuckReaderTest(unittest.TestCase):
    def test_a_pipe_that_nobody_reads_costs_lines_and_nothing_else(self):
        scripts = make_scripts()
        read_end, write_end = os.pipe()
        # The node's stderr stays what Node made of it; only stdout goes into the pipe.
        node = Node(scripts.arguments() + ["--access-log", f"/proc/self/fd/{write_end}"],
                    pass_fds=(write_end,)).wait_ready()
        os.close(write_end)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=10)
            slowest = 0
            for _ in range(400):
                start = time.monotonic()
                connection.request("GET", "/v1/models/" + "m" * 200)
                connection.getresponse().read()
                slowest = max(slowest, time.monotonic() - start)
            self.assertLess(slowest, 0.5)
            node.wait_until(lambda: node.metric("troupe_access_log_dropped_total") > 0, 10, "drops")
        finally:
            code = node.stop()
            os.close(read_end)
            scripts.close()
        self.assertEqual(code, 0)

    def test_a_wrong_file_ends_the_start(self):
        scripts = make_scripts()
        ended = troupe("node", "--port", "0", "--admin-port", "0", *scripts.arguments(),
                       "--access-log", "/nowhere/log")
        scripts.close()
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("/nowhere/log", ended.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
