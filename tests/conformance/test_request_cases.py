"""Public reports about bodies that must be refused or taken, and about configuration.

Each test names its cases (kinds validation, config of the developers' list).
"""

import json
import os
import tempfile
import unittest

from harness import ConformanceTest, answer_chunks
from node import troupe
from wire import Wire

CHAT = "/v1/chat/completions"
ASKED = [{"role": "user", "content": "hi"}]


def tool(name, **fields):
    return {"type": "function", "function": {"name": name, **fields}}


class RequestCasesTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        scripts.add("hello", answer_chunks("Hello!"), control=True)
        scripts.add("call", answer_chunks("", [("a", {})]), control=True)

    def post(self, raw=None, **fields):
        body = {"model": "script/hello", "messages": ASKED, "reasoning_effort": "none", **fields}
        return Wire(self.node.port, CHAT, raw or body)

    def assert_taken(self, **fields):
        answer = self.post(**fields)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer.json()

    def assert_refused(self, param, **fields):
        answer = self.post(**fields)
        self.assertEqual(answer.status, 400, fields)
        self.assertLess(len(answer.raw), 4096)
        error = answer.json()["error"]
        if param is not None:
            self.assertEqual((error["param"] or "")[:len(param)], param, error)
        return error["message"]

    def test_biases(self):
        """Case validation-01"""
        for key, value in (("400001", -7), ("-1", 5), ("xyz", 1), ("5", 1000), ("5", -101)):
            self.assertIn(key, self.assert_refused("logit_bias", logit_bias={key: value}))
        self.assert_taken(logit_bias={"5": 100, "6": -100})

    def test_numbers(self):
        """Case validation-03"""
        for name, least, most in (("temperature", 0, 2), ("top_p", 0.01, 1), ("min_p", 0, 1)):
            for value in ("NaN", "Infinity", "1e400", str(least - 0.1), str(most + 0.1), '"0.5"'):
                raw = json.dumps({"model": "script/hello", "messages": ASKED})[:-1]
                answer = self.post(raw=f'{raw},"{name}":{value}}}')
                self.assertEqual(answer.status, 400, (name, value))
            for value in (None, least, most):
                self.assert_taken(**{name: value})

    def test_choices(self):
        """Case validation-05"""
        for n in (1_000_000, 129, 0, -1, 1.5, "2"):
            self.assertIn("n", self.assert_refused("n", n=n))
        self.assertEqual(len(self.assert_taken(n=128)["choices"]), 128)

    def test_tools_without_parameters(self):
        """Case validation-08"""
        for parameters in ({"parameters": {}}, {}, {"parameters": None},
                           {"parameters": {"type": "object", "properties": {}}, "strict": True}):
            body = self.assert_taken(model="script/call", tools=[tool("a", **parameters)],
                                     tool_choice="required")
            self.assertEqual(body["choices"][0]["message"]["tool_calls"][0]["function"],
                             {"name": "a", "arguments": "{}"})
        self.assert_taken(tools=[])
        self.assert_refused("tools", tools=[tool("a"), tool("a")])
        self.assert_refused("tools[0]", tools=[tool("a b")])
        self.assert_refused("tool_choice", tools=[tool("a")], tool_choice={
            "type": "function", "function": {"name": "b"}})

    def test_what_clients_send_without_meaning_it(self):
        """Case validation-09"""
        self.assert_taken(messages=[
            {"role": "system", "content": [{"type": "text", "text": "s",
                                            "cache_control": {"type": "ephemeral"}}]},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": ""},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "user", "content": "c"}, {"role": "user", "content": "d"}],
            parallel_tool_calls=None, user=None, stop=None, made_up=1)


class ConfigCasesTest(unittest.TestCase):
    def start(self, text):
        with tempfile.TemporaryDirectory(prefix="troupe-config-") as folder:
            path = os.path.join(folder, "troupe.yaml")
            with open(path, "w") as file:
                file.write(text)
            run = troupe("node", "--config", path, timeout=20)
            self.assertEqual(run.returncode, 2, run.stderr)
            return run.stderr.replace(path, "FILE")

    def test_mistyped_keys(self):
        """Case config-01: the file, the line, the key and the one that was meant."""
        said = self.start("node:\n  log_level: info\ngateway:\n  keepalive-timeout: 90s\n")
        self.assertIn("FILE:4", said)
        self.assertIn("keepalive-timeout", said)
        self.assertIn("keepalive_timeout", said)
        said = self.start("engine:\n  device: scriptd\n")
        self.assertIn("FILE:2", said)
        self.assertIn("scripted", said)

    def test_mistyped_keys_that_protect(self):
        """Case config-03: never the open default instead."""
        for text, key, meant in (("gateway:\n  api_kyes: [a]\n", "api_kyes", "api_keys"),
                                 ("gateway:\n  tls_certifcate: x\n", "tls_certifcate",
                                  "tls_certificate")):
            said = self.start(text)
            self.assertIn("FILE:2", said)
            self.assertIn(key, said)
            self.assertIn(meant, said)


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
