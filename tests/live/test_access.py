"""API keys over real sockets: who gets in, what 401 and 429 look like, and that the SDKs read them."""

import http.client
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import PROGRAM, Node, Scripts, events

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


def new_key(name, *limits):
    text = subprocess.run([PROGRAM, "keys", "new", name, *limits], capture_output=True, text=True,
                          check=True).stdout
    key, entry = re.findall(r"^  (\S+)$", text, re.MULTILINE)
    return key, entry


class AccessTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.scripts.add("forever", [{"text": "a"}], "stall")
        cls.key, alice = new_key("alice")
        cls.limited, bob = new_key("bob", "--rate", "3")
        cls.narrow, carol = new_key("carol", "--concurrent", "1", "--priority", "high")
        cls.node = Node(cls.scripts.arguments() + [
            "--api-keys", ",".join([alice, bob, carol]),
            "--cors-origins", "https://app.example"]).wait_ready()

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        cls.scripts.close()
        assert code == 0, code

    def ask(self, path=CHAT, headers=None, model="script/hello", method="POST", **fields):
        body = {"model": model, "max_tokens": 50,
                "messages": [{"role": "user", "content": "hi"}], **fields}
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=20)
        self.addCleanup(connection.close)
        connection.request(method, path, json.dumps(body) if method == "POST" else None,
                           {"content-type": "application/json", **(headers or {})})
        response = connection.getresponse()
        if fields.get("stream") and response.status == 200:
            return connection, response
        return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()

    def bearer(self, key):
        return {"authorization": f"Bearer {key}"}

    def test_a_key_lets_in_by_either_header(self):
        self.assertEqual(self.ask(headers=self.bearer(self.key))[0], 200)
        self.assertEqual(self.ask(MESSAGES, headers={"x-api-key": self.key})[0], 200)
        self.assertEqual(self.ask("/v1/models", self.bearer(self.key), method="GET")[0], 200)

    def test_a_kept_response_belongs_to_its_key(self):
        before = self.node.metric("troupe_tenant_requests_total")
        status, _, body = self.ask("/v1/responses", self.bearer(self.key), input="hi", messages=None)
        self.assertEqual(status, 200, body)
        path = "/v1/responses/" + json.loads(body)["id"]
        other = self.bearer(self.narrow)
        self.assertEqual(self.ask(path, other, method="GET")[0], 404)
        self.assertEqual(self.ask(path, other, method="DELETE")[0], 404)
        self.assertEqual(self.ask(path + "/input_items", other, method="GET")[0], 404)
        status, _, body = self.ask("/v1/responses", other, input="more", messages=None,
                                   previous_response_id=path.rsplit("/", 1)[1])
        self.assertEqual((status, json.loads(body)["error"]["code"]),
                         (400, "previous_response_not_found"))
        self.assertEqual(self.ask(path, self.bearer(self.key), method="GET")[0], 200)
        # Questions about kept responses are no requests of a key.
        self.assertEqual(self.node.metric("troupe_tenant_requests_total"), before + 2)
        self.assertIn('tenant="alice"', self.node.get("/metrics")[1])

    def test_without_one_401_in_each_protocols_shape(self):
        for headers in ({}, self.bearer("tk-000000000000-" + "0" * 48), self.bearer(self.key + "0")):
            status, got, body = self.ask(headers=headers)
            self.assertEqual(status, 401)
            self.assertEqual(json.loads(body)["error"]["code"], "invalid_api_key")
            self.assertEqual(got["www-authenticate"], "Bearer")
            self.assertNotIn(self.key, body.decode())
            status, got, body = self.ask(MESSAGES, headers=headers)
            self.assertEqual(status, 401)
            self.assertEqual(json.loads(body)["error"]["type"], "authentication_error")
        self.assertEqual(self.ask("/v1/models", method="GET")[0], 401)
        self.assertEqual(self.ask("/nowhere", method="GET")[0], 401)
        for path in ("/health", "/live", "/ready", "/metrics", "/version"):
            self.assertEqual(self.ask(path, method="GET")[0], 200, path)

    def test_401_comes_before_the_body(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=5)
        connection.putrequest("POST", CHAT)
        connection.putheader("content-length", "1000000")
        connection.putheader("expect", "100-continue")
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 401)
        connection.close()

    def test_a_preflight_needs_no_key_and_a_401_can_be_read_by_the_page(self):
        origin = {"origin": "https://app.example"}
        status, headers, _ = self.ask(method="OPTIONS", headers={
            **origin, "access-control-request-method": "POST",
            "access-control-request-headers": "authorization"})
        self.assertEqual((status, headers["access-control-allow-headers"]), (204, "authorization"))
        status, headers, _ = self.ask(headers=origin)
        self.assertEqual((status, headers["access-control-allow-origin"]),
                         (401, "https://app.example"))

    def test_rate_limit(self):
        left = []
        for _ in range(3):
            status, headers, _ = self.ask(headers=self.bearer(self.limited))
            self.assertEqual(status, 200)
            self.assertEqual(headers["x-ratelimit-limit-requests"], "3")
            left.append(headers["x-ratelimit-remaining-requests"])
        self.assertEqual(left, ["2", "1", "0"])
        status, headers, body = self.ask(headers=self.bearer(self.limited))
        self.assertEqual(status, 429)
        self.assertTrue(1 <= int(headers["retry-after"]) <= 20, headers)
        self.assertTrue(0 < int(headers["retry-after-ms"]) <= 20_000, headers)
        self.assertEqual(json.loads(body)["error"]["code"], "rate_limit_exceeded")
        status, headers, body = self.ask(MESSAGES, headers={"x-api-key": self.limited})
        self.assertEqual(status, 429)
        self.assertEqual(json.loads(body)["error"]["type"], "rate_limit_error")
        self.assertEqual(headers["anthropic-ratelimit-requests-remaining"], "0")
        self.assertEqual(self.ask(headers=self.bearer(self.key))[0], 200, "others go on")

    def test_concurrency_limit_ends_with_the_request(self):
        connection, response = self.ask(headers=self.bearer(self.narrow), model="script/forever",
                                        stream=True)
        next(events(response))
        self.assertEqual(self.ask(headers=self.bearer(self.narrow))[0], 429)
        response.close()
        connection.close()
        self.node.wait_until(
            lambda: self.ask(headers=self.bearer(self.narrow))[0] == 200, 5, "its place is free")

    def test_wrong_entries_end_the_start(self):
        run = subprocess.run([PROGRAM, "node", "--port", "0", "--admin-port", "0",
                              "--api-keys", "alice:plain-text-key", *self.scripts.arguments()],
                             capture_output=True, text=True, timeout=30)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("gateway.api_keys: entry 1", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
