"""Streams as their clients need them: signs of life, tokens at once, deadlines, old clients, and
certificates that are renewed under them."""

import http.client
import json
import os
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts, events

KEEPALIVE = 0.2
CHAT = "/v1/chat/completions"
BODIES = {
    CHAT: {"messages": [{"role": "user", "content": "x"}]},
    "/v1/completions": {"prompt": "x"},
    "/v1/responses": {"input": "x"},
    "/v1/messages": {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1000},
}
LAST = {CHAT: b"data: [DONE]", "/v1/completions": b"data: [DONE]",
        "/v1/responses": b"event: response.completed", "/v1/messages": b"event: message_stop"}
SIGN = {CHAT: b": keep-alive\n\n", "/v1/completions": b": keep-alive\n\n",
        "/v1/responses": b"event: response.in_progress\n", "/v1/messages": b"event: ping\n"}


def make_scripts():
    scripts = Scripts()
    scripts.text("quick", "hello there")
    # Silent before the first token and once between two.
    scripts.add("slow", [{"text": "first", "delay_ms": 1000}, {"text": " second", "delay_ms": 1000}])
    scripts.text("paced", "", delay_ms=50, pieces=[f"w{i} " for i in range(60)])
    scripts.add("mute", [], "stall")
    return scripts


class StreamsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = make_scripts()
        cls.node = Node(cls.scripts.arguments() + [
            "--stream-keepalive", f"{int(KEEPALIVE * 1000)}ms", "--request-timeout", "5s"]).wait_ready()

    @classmethod
    def tearDownClass(cls):
        cls.node.wait_idle()
        code = cls.node.stop()
        cls.scripts.close()
        assert code == 0, code

    def open(self, path, model, headers=None, stream=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=10)
        connection.request("POST", path, json.dumps(
            {"model": "script/" + model, "stream": stream, **BODIES[path]}), headers or {})
        return connection, connection.getresponse()

    def test_silence_is_broken_before_and_between_tokens(self):
        for path in BODIES:
            start = time.monotonic()
            connection, response = self.open(path, "slow")
            self.assertLess(time.monotonic() - start, 0.6, "the head does not wait for a token")
            self.assertEqual(response.status, 200)
            data, last, longest = b"", start, 0
            while piece := response.read1(65536):
                longest = max(longest, time.monotonic() - last)
                last = time.monotonic()
                data += piece
            self.assertLess(longest, 2 * KEEPALIVE, path)
            self.assertGreaterEqual(data.count(SIGN[path]), 7, path)
            self.assertGreater(data.rfind(LAST[path]), data.rfind(SIGN[path]), "nothing behind the end")
            text = data.decode()
            self.assertIn("first", text)
            self.assertIn(" second", text)
            connection.close()

    def test_errors_before_the_first_sign_keep_their_status(self):
        connection, response = self.open(CHAT, "mute", {"x-request-timeout-ms": "100"})
        self.assertEqual(response.status, 504)
        self.assertEqual(json.loads(response.read())["error"]["code"], "deadline_exceeded")
        connection.close()

    def test_deadlines_of_clients(self):
        for path in BODIES:
            start = time.monotonic()
            connection, response = self.open(path, "mute", {"x-request-timeout-ms": "300"}, False)
            answer = json.loads(response.read())
            self.assertEqual(response.status, 504, answer)
            self.assertLess(time.monotonic() - start, 1.5)
            kind = "api_error" if path == "/v1/messages" else "server_error"
            self.assertEqual(answer["error"]["type"], kind)
            connection.close()
        connection, response = self.open(CHAT, "mute", {"x-request-timeout-ms": "500"})
        data = response.read1(65536)
        try:
            while piece := response.read1(65536):
                data += piece
        except http.client.HTTPException:
            pass  # cut, so that no client takes it for an end
        self.assertIn(b"deadline_exceeded", data)
        self.assertNotIn(b"[DONE]", data)
        connection.close()

    def test_deadlines_that_are_none(self):
        for value in ("soon", "0", "-5", "1.5", ""):
            connection, response = self.open(CHAT, "quick", {"x-request-timeout-ms": value})
            self.assertEqual(response.status, 400, value)
            self.assertIn("x-request-timeout-ms", response.read().decode())
            connection.close()
        connection, response = self.open(CHAT, "quick", {"x-request-timeout-ms": "99999999999"})
        self.assertEqual(response.status, 200)
        self.assertIn(b"[DONE]", response.read())
        connection.close()

    def test_a_token_reaches_the_socket_at_once(self):
        # The script says a piece each 50 ms: how far the gaps are from that is what engine, actors
        # and sockets add unevenly. What they add to each is below the time from a request to the
        # first event of a script without delays, which goes the whole way.
        whole = []
        for _ in range(20):
            start = time.monotonic()
            connection, response = self.open(CHAT, "quick")
            next(events(response))
            whole.append(time.monotonic() - start)
            response.read()
            connection.close()
        connection, response = self.open(CHAT, "paced")
        came = [time.monotonic() for data in events(response) if '"content":"w' in data]
        connection.close()
        self.assertEqual(len(came), 60)
        gaps = [b - a for a, b in zip(came, came[1:])]
        late = sorted(abs(gap - 0.050) * 1000 for gap in gaps)
        print(f"\nrequest to first event p50 {statistics.median(whole) * 1000:.2f} ms; token beside "
              f"its time p50 {late[len(late) // 2]:.2f} ms, p90 {late[len(late) * 9 // 10]:.2f} ms, "
              f"longest {late[-1]:.2f} ms")
        # At idle: on a machine that other work shares, the best of them are what idle would be.
        self.assertLess(sorted(whole)[2], 0.005)
        self.assertLess(late[len(late) // 2], 5)

    def test_http_1_0_with_a_half_closed_client(self):
        for stream in (False, True):
            body = json.dumps({"model": "script/slow", "stream": stream, **BODIES[CHAT]})
            with socket.create_connection(("127.0.0.1", self.node.port), 10) as client:
                client.settimeout(10)
                client.sendall(f"POST {CHAT} HTTP/1.0\r\ncontent-length: {len(body)}\r\n\r\n"
                               f"{body}".encode())
                client.shutdown(socket.SHUT_WR)
                answer = b""
                while piece := client.recv(65536):  # a reset would raise
                    answer += piece
            self.assertIn(b" 200 ", answer[:20])
            self.assertIn(b" second", answer)
            if stream:
                self.assertTrue(answer.endswith(b"data: [DONE]\n\n"))
            else:
                json.loads(answer.split(b"\r\n\r\n", 1)[1])

    def test_an_http_1_0_stream_whose_client_left_ends(self):
        body = json.dumps({"model": "script/mute", "stream": True, **BODIES[CHAT]})
        with socket.create_connection(("127.0.0.1", self.node.port), 10) as client:
            client.sendall(f"POST {CHAT} HTTP/1.0\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
        self.node.wait_idle(3)


class RenewalTest(unittest.TestCase):
    def make(self, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key, "-out",
                        self.certificate, "-days", "2", "-subj", "/CN=" + name],
                       check=True, capture_output=True)

    def connect(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(socket.create_connection(("127.0.0.1", self.node.port), 10))

    def ask(self, client):
        client.sendall(b"GET /live HTTP/1.1\r\nhost: a\r\n\r\n")
        self.assertIn(b" 200 ", client.recv(4096))

    def test_new_connections_get_the_new_certificate(self):
        with tempfile.TemporaryDirectory(prefix="troupe-renew-") as folder:
            self.certificate, self.key = (os.path.join(folder, "node" + end) for end in (".crt", ".key"))
            scripts = make_scripts()
            self.make("first")
            self.node = Node(scripts.arguments() + [
                "--ssl-certfile", self.certificate, "--ssl-keyfile", self.key], gateway=False)
            try:
                self.node.wait_until(lambda: self.connect().close() or True, 30, "TLS")
                old = self.connect()
                self.ask(old)
                shown = old.getpeercert(True)
                self.make("second")
                self.node.process.send_signal(signal.SIGHUP)
                self.node.wait_until(lambda: self.connect().getpeercert(True) != shown, 10, "the new one")
                self.ask(old)
                renewed = self.connect().getpeercert(True)
                with open(self.key, "w") as file:
                    file.write("nonsense")
                self.node.process.send_signal(signal.SIGHUP)
                self.node.wait_until(lambda: "the old certificate stays" in self.node.output(), 10, "a log line")
                client = self.connect()
                self.assertEqual(client.getpeercert(True), renewed)
                self.ask(client)
                self.ask(old)
            finally:
                code = self.node.stop()
                scripts.close()
            self.assertEqual(code, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
