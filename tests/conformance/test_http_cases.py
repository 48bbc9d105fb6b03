"""Public reports about HTTP servers, each over a real socket to a gateway.

Each test names its cases (kind http of the developers' list). tests/live/test_http.py has those that
need curl: http-02, http-03, http-07, http-09.
"""

import ctypes
import gzip
import json
import re
import select
import socket
import struct
import time
import unittest

from harness import TIMEOUT, ConformanceTest
from node import Node, troupe

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
BODY = b'{"model":"script/hello","messages":[{"role":"user","content":"hi"}]}'
HEAD = f"POST {CHAT} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n".encode()


class HttpCasesTest(ConformanceTest):
    flags = ["--max-body-bytes", "1MiB", "--keepalive-timeout", "1s", "--write-timeout", "1s"]

    @classmethod
    def add_scripts(cls, scripts):
        scripts.text("hello", "Hello, world!")
        scripts.text("slow", "", delay_ms=400, pieces=["a", "b", "c", "d"])
        scripts.text("steady", "", delay_ms=20, pieces=list("ab" * 5000))

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.node.port), timeout=TIMEOUT)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.addCleanup(client.close)
        return client

    @staticmethod
    def answer(client):
        """One answer with a content-length: (status, head, body)."""
        received = b""
        while b"\r\n\r\n" not in received:
            piece = client.recv(65536)
            assert piece, f"closed after {received}"
            received += piece
        head, body = received.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"content-length: (\d+)", head)[1])
        while len(body) < length:
            body += client.recv(65536)
        return int(head.split()[1]), head.decode(), body

    def test_chunked_bodies(self):
        """Case http-01: extensions and trailers mean nothing, wherever the packets are cut."""
        parts = [BODY[:27], BODY[27:]]
        chunks = b"".join(f"{len(part):x};x=y\r\n".encode() + part + b"\r\n" for part in parts)
        request = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\nTrailer: v\r\n\r\n"
        client = self.connect()
        for cut in [*range(1, len(request), 5), 0]:  # 0: every byte alone
            for piece in ([request[:cut], request[cut:]] if cut else
                          [request[at:at + 1] for at in range(len(request))]):
                client.sendall(piece)
                time.sleep(0.0005)
            status, _, body = self.answer(client)
            self.assertEqual((status, cut), (200, cut), body)
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"80000\r\n" + b"x" * 0x80000
                       + b"\r\n80001\r\n" + b"x" * 100)
        self.assertEqual(self.answer(client)[0], 413)
        client = self.connect()
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1g\r\n")
        status, head, _ = self.answer(client)
        self.assertEqual((status, "connection: close" in head), (400, True))
        self.assertEqual(client.recv(10), b"")

    def test_no_invitation_for_a_body_that_came(self):
        """Case http-02: 100 Continue only where the client waits for it."""
        client = self.connect()
        client.sendall(HEAD + f"Expect: 100-continue\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
                       + BODY)
        self.assertEqual(self.answer(client)[0], 200)

    def test_a_compressed_message(self):
        """Case http-03: the Anthropic coding CLI compresses long bodies."""
        body = gzip.compress(json.dumps({"model": "script/hello", "max_tokens": 80, "messages": [
            {"role": "user", "content": "hi " * 20_000}]}).encode())
        status, _, text = self.node.post(MESSAGES, body, headers={"content-encoding": "gzip"})
        self.assertEqual(status, 200, text)
        status, headers, _ = self.node.post(MESSAGES, body, headers={"content-encoding": "compress"})
        self.assertEqual((status, headers["accept-encoding"]), (415, "gzip, deflate, zstd"))

    def test_idle_connections(self):
        """Case http-05: closed when idle, and only then; the default outlives the peers' pools."""
        self.assertIn("keepalive_timeout: 2m ", troupe("node", "--dump-config").stdout)
        client = self.connect()
        for _ in range(2):
            client.sendall(HEAD + f"Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY)
            self.assertEqual(self.answer(client)[0], 200)
            time.sleep(0.5)
        slow = BODY.replace(b"hello", b"slow")  # 1.6 s: longer than the idle timeout
        client.sendall(HEAD + f"Content-Length: {len(slow)}\r\n\r\n".encode() + slow)
        self.assertIn(b"abcd", self.answer(client)[2])
        start = time.monotonic()
        self.assertEqual(client.recv(10), b"", "a FIN, not a reset")
        self.assertTrue(0.5 < time.monotonic() - start < 3)
        client = self.connect()
        client.sendall(b"GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertIn("connection: close", self.answer(client)[1])
        self.assertEqual(client.recv(10), b"")

    def test_pages_of_a_browser(self):
        """Case http-09: off by default, never at the admin port; errors can be read by the page."""
        key, entry = re.findall(r"^  (\S+)$", troupe("keys", "new", "a", "--rate", "1").stdout,
                                re.MULTILINE)
        origin = {"origin": "https://app.example"}
        preflight = (f"OPTIONS {CHAT} HTTP/1.1\r\nhost: x\r\norigin: https://app.example\r\n"
                     "access-control-request-method: POST\r\naccess-control-request-headers: "
                     "authorization,x-stainless-os,anthropic-version,x-api-key\r\n\r\n").encode()
        client = self.connect()
        client.sendall(preflight)
        self.assertNotIn(b"access-control", client.recv(4096))
        node = Node(self.scripts.arguments() + [
            "--api-keys", entry, "--cors-origins", "https://app.example"]).wait_ready()
        self.addCleanup(node.stop)
        seen = []
        for headers in (origin, {**origin, "x-api-key": key}, {**origin, "x-api-key": key}):
            status, got, _ = node.post(CHAT, BODY, headers=headers)
            seen.append(status)
            self.assertEqual(got["access-control-allow-origin"], "https://app.example")
            for name in ("retry-after", "x-request-id", "request-id"):
                self.assertIn(name, got["access-control-expose-headers"])
        self.assertEqual(seen, [401, 200, 429])
        for port, allowed in ((node.port, True), (node.admin_port, False)):
            with socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as page:
                page.sendall(preflight)
                head = page.recv(4096)
                self.assertEqual(b"access-control-allow-origin: https://app.example" in head, allowed)
                self.assertEqual(head.startswith(b"HTTP/1.1 204"), allowed)

    def test_deep_nesting(self):
        """Case http-11: refused with its reason wherever it stands; the process lives."""
        deep = "[" * 100_000 + "]" * 100_000
        arguments = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": deep}}]}
        result = {"role": "tool", "tool_call_id": "c", "content": "ok"}
        for body in (f'{{"model":"script/hello","tools":{deep}}}',
                     f'{{"model":"script/hello","x":{deep},"messages":[]}}',
                     json.dumps({"model": "script/hello", "messages": [arguments, result]})):
            status, _, text = self.node.post(CHAT, body)
            self.assertEqual(status, 400)
            self.assertLess(len(text), 4096)
        for path, fields in ((MESSAGES, {"max_tokens": 9, "messages": []}), ("/v1/responses", {"input": []}),
                             ("/v1/completions", {"prompt": "x"}), ("/tokenize", {"prompt": "x"})):
            body = json.dumps({"model": "script/hello", **fields})[:-1] + f',"metadata":{deep}}}'
            status, _, text = self.node.post(path, body)
            self.assertEqual(status, 400, path)
            self.assertIn("nest", text)
        self.assertEqual(self.node.chat("script/hello")[0], 200)

    def test_a_peer_that_vanished(self):
        """Case http-13: no FIN, no reset, no acknowledgement; its request ends all the same."""
        client = self.connect()
        body = BODY.replace(b"hello", b"steady").replace(b'"model"', b'"stream":true,"model"')
        client.sendall(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.assertIn(b"200 OK", client.recv(65536))
        self.drop_everything(client)
        self.node.wait_idle(10)
        self.assertEqual(self.node.metric("troupe_requests_client_gone_total"), 1)
        self.assertEqual(select.select([client], [], [], 0)[0], [], "it heard nothing of it")

    @staticmethod
    def drop_everything(client):
        """A filter at the client's socket that takes no packet: for the server the peer is gone."""
        instruction = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # return 0
        program = struct.pack("HL", 1, ctypes.addressof(instruction))
        client.recv_into(bytearray(1 << 16))
        client.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER

    def test_a_silent_peer_is_probed(self):
        """Case http-13, the rest: where nothing is sent the kernel asks, within minutes."""
        client = self.connect()
        client.sendall(b"GET /version HTTP/1.1\r\nHost: a\r\n")  # never ends
        mine = f"{self.node.port:04X}", f"{client.getsockname()[1]:04X}"
        deadline = time.monotonic() + 5
        while True:
            with open("/proc/net/tcp") as table:
                rows = [line.split() for line in table]
            timers = [row[5] for row in rows
                      if (row[1].split(":")[-1], row[2].split(":")[-1]) == mine]
            if timers and timers[0].startswith("02:"):  # the timer of keep-alive probes
                break
            self.assertLess(time.monotonic(), deadline, timers)
            time.sleep(0.01)
        self.assertLessEqual(int(timers[0][3:], 16), 60 * 100)


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
