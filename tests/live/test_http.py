"""The HTTP details of the front door, with curl and raw sockets: bodies, CORS, TLS, health under load."""

import ctypes
import gzip
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

sys.path.insert(0, os.path.dirname(__file__))
from node import PROGRAM, Node, Scripts, events

CHAT = "/v1/chat/completions"
BODY = json.dumps({"model": "script/hello", "messages": [{"role": "user", "content": "hi " * 20_000}]})


def curl(node, path, *arguments, body=None, scheme="http"):
    """One exchange: (status, lower-case header lines, body)."""
    command = ["curl", "-sS", "-i", "--max-time", "20", *arguments,
               f"{scheme}://127.0.0.1:{node.port}{path}"]
    if body is not None:
        command[2:2] = ["--data-binary", "@-"]
    run = subprocess.run(command, input=body, capture_output=True, timeout=30)
    assert run.returncode == 0, run.stderr.decode()
    text = run.stdout.decode()
    while text.startswith("HTTP/1.1 100"):
        text = text.split("\r\n\r\n", 1)[1]
    head, answer = text.split("\r\n\r\n", 1)
    return int(head.split()[1]), head.lower(), answer


def zstd_compress(data):
    """With the library that the program links: Python has none of its own."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(len(data) + 1000)
    size = library.ZSTD_compress(out, ctypes.c_size_t(len(out)), data, ctypes.c_size_t(len(data)), 3)
    assert size <= len(out)
    return out.raw[:size]


def raw(node, data, wait=5):
    """Sends bytes; everything that comes until the server closes or `wait` seconds of silence."""
    with socket.create_connection(("127.0.0.1", node.port), timeout=wait) as client:
        client.sendall(data)
        received = b""
        try:
            while piece := client.recv(65536):
                received += piece
        except TimeoutError:
            pass
        return received


class HttpTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.scripts.text("slow", "", delay_ms=100, pieces=list("abcdefghijklmnopqrst"))
        cls.node = Node(cls.scripts.arguments() + [
            "--cors-origins", "https://app.example", "--io-threads", "2",
            "--max-body-bytes", "1MiB", "--max-open-body-bytes", "2MiB"]).wait_ready()

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        cls.scripts.close()
        assert code == 0, code

    def post_encoded(self, coding, body):
        return curl(self.node, CHAT, "-H", f"content-encoding: {coding}",
                    "-H", "content-type: application/json", body=body)

    def test_compressed_bodies(self):
        """Case http-03"""
        bodies = {"gzip": gzip.compress(BODY.encode()), "deflate": zlib.compress(BODY.encode()),
                  "zstd": zstd_compress(BODY.encode())}
        for coding, body in bodies.items():
            self.assertLess(len(body), len(BODY) / 10)
            status, _, answer = self.post_encoded(coding, body)
            self.assertEqual(status, 200, f"{coding}: {answer}")
            self.assertEqual(json.loads(answer)["choices"][0]["message"]["content"], "Hello, world!")

    def test_compressed_bodies_that_are_refused(self):
        status, head, answer = self.post_encoded("br", b"xyz")
        self.assertEqual(status, 415)
        self.assertIn("accept-encoding: gzip, deflate, zstd", head)
        self.assertEqual(self.post_encoded("gzip", gzip.compress(b" " * 50_000_000))[0], 413)
        status, _, answer = curl(self.node, "/v1/messages", body=b"x" * 2_000_000)
        self.assertEqual((status, json.loads(answer)["type"]), (413, "error"), "Anthropic's shape")
        self.assertEqual(json.loads(answer)["error"]["type"], "request_too_large")
        self.assertEqual(self.post_encoded("gzip", b"{}")[0], 400)
        self.assertEqual(self.post_encoded("gzip", gzip.compress(BODY.encode())[:-9])[0], 400)
        self.node.wait_until(lambda: self.node.metric("troupe_http_body_bytes") == 0, 5, "given back")

    def test_open_bodies_are_bounded_together(self):
        holders = []
        for _ in range(2):  # each holds most of its megabyte and never ends
            holder = socket.create_connection(("127.0.0.1", self.node.port))
            holder.sendall(b"POST " + CHAT.encode() + b" HTTP/1.1\r\nhost: x\r\ncontent-length: 900000"
                           b"\r\n\r\n" + b"x" * 890_000)
            holders.append(holder)
        self.node.wait_until(lambda: self.node.metric("troupe_http_body_bytes") > 1_700_000, 5, "held")
        status, head, _ = curl(self.node, CHAT, "-H", "origin: https://app.example",
                               body=b"y" * 900_000)
        self.assertIn("access-control-allow-origin: https://app.example", head)
        self.assertEqual(status, 503)
        self.assertIn("retry-after: 1", head)
        for holder in holders:
            holder.close()
        self.node.wait_until(lambda: self.node.metric("troupe_http_body_bytes") == 0, 5, "given back")
        self.assertEqual(curl(self.node, CHAT, body=BODY.encode())[0], 200)

    def test_a_body_is_given_back_when_it_was_read(self):
        connection, response = self.node.stream(
            "script/slow", messages=[{"role": "user", "content": "hi " * 20_000}])
        try:
            self.assertEqual(response.status, 200)
            self.assertTrue(next(events(response)))
            self.assertEqual(self.node.metric("troupe_http_body_bytes"), 0)
            self.assertEqual(self.node.metric("troupe_requests_live"), 1, "the answer still runs")
        finally:
            connection.close()
        self.node.wait_idle()

    def test_continue_comes_before_the_body(self):
        """Case http-02"""
        with socket.create_connection(("127.0.0.1", self.node.port), timeout=5) as client:
            head = (f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(BODY)}\r\n"
                    "expect: 100-continue\r\n\r\n")
            start = time.monotonic()
            client.sendall(head.encode())
            self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 100 Continue\r\n\r\n"))
            self.assertLess(time.monotonic() - start, 0.5)
            client.sendall(BODY.encode())
            self.assertIn(b"HTTP/1.1 200", client.recv(1000))
        too_large = raw(self.node, f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 9999999\r\n"
                                   "expect: 100-continue\r\n\r\n".encode())
        self.assertTrue(too_large.startswith(b"HTTP/1.1 413"), too_large)
        other = raw(self.node, f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\n"
                               "expect: 42\r\n\r\nx".encode())
        self.assertTrue(other.startswith(b"HTTP/1.1 417"), other)

    def test_smuggling_is_refused_and_the_connection_closed(self):
        """Case http-07"""
        post = f"POST {CHAT} HTTP/1.1\r\nHost: a\r\n"
        hidden = "GET /version HTTP/1.1\r\nHost: a\r\n\r\n"
        heads = {
            "length and chunked": post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "two lengths": post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "negative": post + "Content-Length: -1\r\n\r\n",
            "signed": post + "Content-Length: +5\r\n\r\n",
            "list": post + "Content-Length: 5,5\r\n\r\n",
            "xchunked": post + "Transfer-Encoding: xchunked\r\n\r\n",
            "space before the colon": post + "Content-Length : 5\r\n\r\n",
            "fold": post + "X: a\r\n b\r\n\r\n",
            "bare LF": post + "X: a\nContent-Length: 0\r\n\r\n",
            "NUL": post + "X: a\0b\r\n\r\n",
            "chunk size": post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            "chunk end": post + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        }
        for name, head in heads.items():
            answer = raw(self.node, (head + hidden).encode("latin-1"))
            self.assertTrue(answer.startswith(b"HTTP/1.1 400"), f"{name}: {answer}")
            self.assertIn(b"connection: close", answer, name)
            self.assertEqual(answer.count(b"HTTP/1.1"), 1, f"{name}: the second request was read")

    def test_limits_have_statuses(self):
        get = "GET /version HTTP/1.1\r\nHost: a\r\n"
        for status, request in {
                431: get + "X: " + "a" * 70_000 + "\r\n\r\n",
                414: "GET /" + "a" * 9000 + " HTTP/1.1\r\nHost: a\r\n\r\n",
                411: f"POST {CHAT} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\r\n",
                505: "GET / HTTP/2.0\r\nHost: a\r\n\r\n"}.items():
            answer = raw(self.node, request.encode())
            self.assertTrue(answer.startswith(f"HTTP/1.1 {status}".encode()), f"{status}: {answer}")

    def test_head_options_and_methods(self):
        head = raw(self.node, b"HEAD /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 200") and head.endswith(b"\r\n\r\n"), head)
        self.assertRegex(head, rb"content-length: [1-9]")
        status, head, _ = curl(self.node, CHAT, "-X", "OPTIONS")
        self.assertEqual((status, re.search("allow: (.*)\r", head)[1]), (204, "post, options"))
        status, head, _ = curl(self.node, CHAT)
        self.assertEqual((status, re.search("allow: (.*)\r", head)[1]), (405, "post, options"))

    def test_cors(self):
        """Case http-09"""
        asked = "authorization,content-type,x-stainless-os,anthropic-version,x-api-key"
        preflight = ["-X", "OPTIONS", "-H", "access-control-request-method: POST",
                     "-H", f"access-control-request-headers: {asked}"]
        status, head, _ = curl(self.node, CHAT, *preflight, "-H", "origin: https://app.example")
        self.assertEqual(status, 204)
        for line in ("access-control-allow-origin: https://app.example", "access-control-max-age: ",
                     f"access-control-allow-headers: {asked}"):
            self.assertIn(line, head)
        status, head, _ = curl(self.node, CHAT, *preflight, "-H", "origin: https://evil.example")
        self.assertNotIn("access-control-allow", head)
        status, head, _ = curl(self.node, "/nowhere", "-H", "origin: https://app.example")
        self.assertEqual(status, 404)
        self.assertIn("access-control-allow-origin: https://app.example", head)
        self.assertIn("retry-after", re.search("access-control-expose-headers: (.*)\r", head)[1])

    def test_pipelined_answers_come_in_order(self):
        slow = json.dumps({"model": "script/slow", "messages": [{"role": "user", "content": "x"}]})
        request = f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(slow)}\r\n\r\n{slow}"
        answer = raw(self.node, (request + "GET /version HTTP/1.1\r\nhost: x\r\n\r\n"
                                 "GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").encode())
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 3)
        self.assertLess(answer.index(b"chat.completion"), answer.index(b'{"version"'))
        self.assertLess(answer.index(b'{"version"'), answer.index(b'{"status"'))

    def test_half_close_is_answered(self):
        with socket.create_connection(("127.0.0.1", self.node.port), timeout=10) as client:
            slow = json.dumps({"model": "script/slow", "messages": [{"role": "user", "content": "x"}]})
            client.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(slow)}\r\n\r\n{slow}"
                           .encode())
            client.shutdown(socket.SHUT_WR)
            received = b""
            while piece := client.recv(65536):
                received += piece
        self.assertIn(b"abcdefghijklmnopqrst", received)


class HealthUnderLoadTest(unittest.TestCase):
    """Every actor thread, compute thread and core is busy; health is answered at once."""

    WITHIN = 0.010

    def test_health_answers_within_10_ms(self):
        scripts = Scripts()
        scripts.text("hello", "Hello, world!")
        node = Node(scripts.arguments()).wait_ready()
        big = json.dumps({"model": "script/hello", "max_tokens": 1, "messages": [
            {"role": "user", "content": "word " * 50_000}]})
        loads = [subprocess.Popen([sys.executable, "-c", LOAD, str(node.port)],
                                  stdin=subprocess.PIPE) for _ in range(2)]
        try:
            for load in loads:
                load.stdin.write(big.encode())
                load.stdin.close()
            node.wait_until(lambda: node.metric("troupe_requests_live") >= 8, 20, "saturated")
            times = self.measure(node)
            compute = node.metric("troupe_requests_live")
        finally:
            for load in loads:
                load.kill()
                load.wait()
            code = node.stop()
            scripts.close()
        self.assertEqual(code, 0)
        self.assertGreater(compute, 0, "it was not saturated to the end")
        times.sort()
        print(f"\n/health under load: p50 {times[len(times) // 2] * 1e3:.2f} ms, "
              f"p90 {times[len(times) * 9 // 10] * 1e3:.2f} ms, longest {times[-1] * 1e3:.2f} ms")
        # The client is a process on the same busy cores, so that its own waits count as well.
        self.assertLess(times[len(times) // 2], self.WITHIN)

    def measure(self, node):
        times = []
        with socket.create_connection(("127.0.0.1", node.port), timeout=10) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(100):
                start = time.monotonic()
                client.sendall(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
                answer = client.recv(4096)
                times.append(time.monotonic() - start)
                self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer)
                time.sleep(0.01)
        return times


# Eight connections that keep asking; the body comes on stdin.
LOAD = """
import http.client, sys, threading
body = sys.stdin.read()
def ask():
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=60)
    while True:
        connection.request("POST", "/v1/chat/completions", body)
        connection.getresponse().read()
threads = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


class IdleConnectionsTest(unittest.TestCase):
    COUNT = 25_000

    def open_files_for(self, count):
        """Raises the limit, for the node too. Returns how many connections it allows."""
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        wanted = count + 2000
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, max(hard, wanted)))
        except (ValueError, OSError):  # not root
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            count = min(count, hard - 2000)
        return count

    def test_many_idle_connections_cost_little(self):
        count = self.open_files_for(self.COUNT)
        scripts = Scripts()
        node = Node(scripts.arguments() + ["--max-connections", str(count + 100)])
        clients = []
        try:
            node.wait_ready()
            before = node.rss_mib()
            for i in range(count):
                # From several addresses: one has too few ports.
                client = socket.create_connection(("127.0.0.1", node.port), timeout=10,
                                                  source_address=(f"127.0.0.{2 + i // 10_000}", 0))
                client.sendall(b"GET /live HTTP/1.1\r\nhost: x\r\n\r\n")
                client.recv(1000)
                clients.append(client)
            self.assertGreaterEqual(node.metric("troupe_http_connections"), count)
            cost = (node.rss_mib() - before) * 1024 / count
            busy = self.cpu_share(node)
            print(f"\n{count} idle connections: {cost:.2f} KiB each, {busy * 100:.1f} % of a core")
            self.assertLess(cost, 8)
            self.assertLess(busy, 0.1)
        finally:
            for client in clients:
                client.close()
            self.assertEqual(node.stop(), 0)
            scripts.close()

    def cpu_share(self, node):
        def ticks():
            with open(f"/proc/{node.process.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])
        before = ticks()
        time.sleep(2)
        return (ticks() - before) / os.sysconf("SC_CLK_TCK") / 2


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="troupe-tls-")
        cls.certificate, cls.key = cls.make("node")
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.scripts.text("slow", "", delay_ms=50, pieces=list("abcdefghij"))

    @classmethod
    def tearDownClass(cls):
        cls.scripts.close()
        cls.folder.cleanup()

    @classmethod
    def make(cls, name):
        certificate, key = (os.path.join(cls.folder.name, name + end) for end in (".crt", ".key"))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True)
        return certificate, key

    def test_curl_over_tls_1_3(self):
        node = Node(self.scripts.arguments() + [
            "--ssl-certfile", self.certificate, "--ssl-keyfile", self.key,
            "--header-timeout", "1s"], gateway=False)
        trusted = ["--cacert", self.certificate]
        try:
            node.wait_until(lambda: subprocess.run(
                ["curl", "-sf", *trusted, f"https://127.0.0.1:{node.port}/ready"],
                capture_output=True).returncode == 0, 30, "/ready")
            self.assertIn(f"https://127.0.0.1:{node.port}", node.output())
            body = json.dumps({"model": "script/hello",
                               "messages": [{"role": "user", "content": "hi"}]}).encode()
            status, _, answer = curl(node, CHAT, *trusted, "--tlsv1.3", body=body, scheme="https")
            self.assertEqual(status, 200)
            self.assertIn("Hello, world!", answer)
            old = subprocess.run(["curl", "-sS", *trusted, "--tls-max", "1.2",
                                  f"https://127.0.0.1:{node.port}/live"], capture_output=True)
            self.assertNotEqual(old.returncode, 0)
            self.slow_handshake(node)
            self.stream(node)
        finally:
            self.assertEqual(node.stop(), 0)

    def slow_handshake(self, node):
        with socket.create_connection(("127.0.0.1", node.port), timeout=5) as client:
            client.sendall(b"\x16\x03\x01\x02\x00\x01")  # a record that never ends
            start = time.monotonic()
            self.assertEqual(client.recv(1000), b"")
            self.assertLess(time.monotonic() - start, 2)

    def stream(self, node):
        context = ssl.create_default_context(cafile=self.certificate)
        import http.client
        connection = http.client.HTTPSConnection("127.0.0.1", node.port, timeout=10, context=context)
        connection.request("POST", CHAT, json.dumps(
            {"model": "script/slow", "stream": True, "messages": [{"role": "user", "content": "x"}]}))
        times = [time.monotonic() for _ in events(connection.getresponse())]
        connection.close()
        self.assertGreater(times[-1] - times[0], 0.3, "events leave as they come")

    def test_wrong_files_are_named(self):
        _, other = self.make("other")
        for arguments, words in (
                (["--ssl-certfile", self.certificate], ["gateway.tls_key"]),
                (["--ssl-certfile", "/nowhere.crt", "--ssl-keyfile", self.key], ["/nowhere.crt"]),
                (["--ssl-certfile", self.key, "--ssl-keyfile", self.key], ["not a certificate"]),
                (["--ssl-certfile", self.certificate, "--ssl-keyfile", other], ["does not belong"])):
            run = subprocess.run([PROGRAM, "node", "--port", "0", "--admin-port", "0",
                                  *self.scripts.arguments(), *arguments],
                                 capture_output=True, text=True, timeout=30)
            self.assertNotEqual(run.returncode, 0)
            for word in words:
                self.assertIn(word, run.stdout + run.stderr)


class DrainTest(unittest.TestCase):
    def setUp(self):
        self.scripts = Scripts()
        self.scripts.text("slow", "", delay_ms=100, pieces=list("abcdefghijklmnopqrst"))
        self.scripts.add("forever", [{"text": "a"}], "stall")
        self.node = Node(self.scripts.arguments() + ["--drain-timeout", "20s"]).wait_ready()

    def tearDown(self):
        self.node.stop()
        self.scripts.close()

    def test_a_draining_node_is_live_and_not_ready_and_its_stream_ends_well(self):
        connection, response = self.node.stream("script/slow")
        texts = events(response)
        next(texts)
        self.node.process.send_signal(signal.SIGTERM)
        self.node.wait_until(lambda: self.node.get("/ready")[0] == 503, 1, "not ready")
        self.assertEqual(self.node.get("/live")[0], 200)
        status, headers, body = self.node.post(CHAT, {"model": "script/slow", "messages": [
            {"role": "user", "content": "x"}]})
        self.assertEqual(status, 503)
        self.assertEqual(headers.get("connection"), "close")
        self.assertIn("retry-after", headers)
        self.assertEqual(list(texts)[-1], "[DONE]")
        connection.close()
        self.assertEqual(self.node.process.wait(10), 0)

    def test_a_second_signal_ends_at_once(self):
        connection, response = self.node.stream("script/forever")
        next(events(response))
        self.node.process.send_signal(signal.SIGTERM)
        self.node.wait_until(lambda: self.node.get("/ready")[0] == 503, 1, "not ready")
        start = time.monotonic()
        self.node.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.node.process.wait(5), -signal.SIGTERM)
        self.assertLess(time.monotonic() - start, 1)
        connection.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
