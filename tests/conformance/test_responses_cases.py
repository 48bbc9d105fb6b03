"""Public reports about Responses, most of them Codex's, each over a real socket.

Each test names its cases (kind responses of the developers' list).
"""

import http.client
import json
import time
import unittest

from harness import TIMEOUT, ConformanceTest, answer_chunks
from node import troupe
from wire import Wire

RESPONSES = "/v1/responses"
SHELL = {"type": "function", "name": "shell", "strict": False, "parameters": {
    "type": "object", "properties": {"command": {"type": "array", "items": {"type": "string"}}}}}
PATCH = {"type": "custom", "name": "apply_patch",
         "format": {"type": "grammar", "syntax": "lark", "definition": 'start: "x"'}}


def text(role, kind, said):
    return {"type": "message", "role": role, "content": [{"type": kind, "text": said}]}


class ResponsesCasesTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("hello", "Hello!", thought="Greet.")
        add("call", "", [("shell", {"command": ["ls"]})], "Look.")
        scripts.add("die", [{"text": "x</think>before"}, {"text": "a", "delay_ms": 100}], "die",
                    control=True)

    def ask(self, script="hello", **fields):
        body = {"model": "script/" + script, "input": "hi", "stream": True, "store": False, **fields}
        return Wire(self.node.port, RESPONSES, body)

    def test_every_stream_has_one_end_and_then_the_body_ends(self):
        """Case responses-01: Codex waits for the end of the body."""
        for script, fields, end in (("hello", {}, "response.completed"),
                                    ("call", {"tools": [SHELL]}, "response.completed"),
                                    ("hello", {"max_output_tokens": 2}, "response.incomplete"),
                                    ("die", {}, "response.failed")):
            with self.subTest(script=script, end=end):
                connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=TIMEOUT)
                connection.request("POST", RESPONSES, json.dumps({
                    "model": "script/" + script, "input": "hi", "stream": True, **fields}),
                    {"content-type": "application/json"})
                response = connection.getresponse()
                kinds, ended = [], 0.0
                for line in response:  # it ends with the last chunk; a cut would raise
                    if line.startswith(b"data: "):
                        kinds.append(json.loads(line[6:])["type"])
                        ended = time.monotonic()
                self.assertLess(time.monotonic() - ended, 0.5)
                connection.close()
                ends = [kind for kind in kinds if kind in (
                    "response.completed", "response.incomplete", "response.failed")]
                self.assertEqual((ends, kinds[-1]), ([end], end))
                self.node.wait_until(lambda: self.node.get("/ready")[0] == 200, 10, "it serves again")

    def test_a_failure_in_mid_stream(self):
        """Case responses-07: in the form of Responses, with what Codex reads."""
        last = self.ask("die").objects()[-1]
        self.assertEqual((last["type"], last["response"]["status"]), ("response.failed", "failed"))
        self.assertEqual(last["response"]["error"]["code"], "worker_lost")
        self.assertTrue(last["response"]["error"]["message"])
        self.node.wait_until(lambda: self.node.get("/ready")[0] == 200, 10, "it serves again")

    def test_turns_as_codex_sends_them_again(self):
        """Case responses-03: no id, no status, a developer, and a message of two keys."""
        body = {"instructions": "x", "input": [
            text("user", "input_text", "hi"), text("assistant", "output_text", "Hi!"),
            text("developer", "input_text", "be brief"), {"role": "user", "content": "again"}]}
        answer = self.ask(**body)
        self.assertEqual(answer.status, 200, answer.raw)
        self.assertEqual(answer.objects()[-1]["type"], "response.completed")
        # A developer's text is the system's, in its place. V4 has a system at the front only: there
        # it is a user's, as in the reference (docs/gateway.md).
        for recipe, mark in (("deepseek-v4.1", "<｜System｜>"), ("chatml", "<|im_start|>system\n"),
                             ("deepseek-v4", "<｜User｜>")):
            run = troupe("recipe", "render", "--text", "--model", recipe, "--protocol", "responses",
                         typed=json.dumps({"model": "m", **body}) + "\n")
            self.assertEqual(run.stdout.count(mark + "be brief"), 1, run.stdout + run.stderr)
            self.assertLess(run.stdout.index("Hi!"), run.stdout.index("be brief"))

    def test_a_turn_of_codex(self):
        """Case responses-05: reasoning that is encrypted, calls apart from their outputs, tools."""
        items = [{"role": "user", "content": "go"},
                 {"type": "reasoning", "summary": [], "encrypted_content": None},
                 {"type": "function_call", "call_id": "c1", "name": "shell",
                  "arguments": '{"command":["ls"]}'},
                 text("assistant", "output_text", "running"),
                 {"type": "function_call_output", "call_id": "c1", "output": "a.txt"},
                 {"type": "custom_tool_call", "call_id": "c2", "name": "apply_patch", "input": "x"},
                 {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"}]
        fields = {"include": ["reasoning.encrypted_content"], "parallel_tool_calls": True,
                  "prompt_cache_key": "k", "reasoning": {"effort": "medium", "summary": "auto"},
                  "tool_choice": "auto", "tools": [SHELL, PATCH, {"type": "web_search"}]}
        answer = self.ask("call", input=items, **fields)
        self.assertEqual(answer.status, 200, answer.raw)
        last = answer.objects()[-1]["response"]
        self.assertEqual([tool["type"] for tool in last["tools"]], ["function", "custom", "web_search"])
        call = last["output"][-1]
        self.assertEqual((call["type"], json.loads(call["arguments"])),
                         ("function_call", {"command": ["ls"]}))
        # Paired by call_id: the order in which Codex sends them does not change the prompt.
        near = [items[at] for at in (0, 1, 3, 2, 4, 5, 6)]
        again = self.ask("call", input=near, **fields).objects()[-1]["response"]
        self.assertEqual(again["usage"]["input_tokens"], last["usage"]["input_tokens"])
        for missing in (4, 6):
            cut = self.ask("call", input=items[:missing] + items[missing + 1:], **fields)
            self.assertEqual(cut.status, 400)

    def test_tools_of_the_vendor_are_refused_by_name(self):
        """Case responses-05, differs on purpose (docs/gateway.md): all but web_search."""
        for kind in ("image_generation", "code_interpreter", "file_search", "mcp"):
            answer = self.ask(tools=[SHELL, {"type": kind}])
            self.assertEqual(answer.status, 400)
            self.assertEqual(answer.json()["error"]["param"], "tools[1].type")

    def test_an_error_does_not_repeat_the_input(self):
        """Case responses-08: the first one only, in less than 4 KB."""
        bad = {"role": "user", "content": [{"type": "input_text", "text": 7}]}
        for items in ([bad] * 12_000, [{**bad, "role": "x" * 1_000_000}]):
            answer = self.ask(input=items)
            self.assertEqual(answer.status, 400)
            self.assertLess(len(answer.raw), 4096)
            self.assertTrue(answer.json()["error"]["param"].startswith("input[0]"))

    def test_state_that_is_not_there(self):
        """Case responses-09"""
        for fields, param in (({"previous_response_id": "resp_missing"}, "previous_response_id"),
                              ({"conversation": "conv_1"}, "conversation"),
                              ({"background": True}, "background")):
            for stream in (True, False):
                answer = self.ask(stream=stream, **fields)
                self.assertEqual((answer.status, answer.json()["error"]["param"]), (400, param))
        for method in ("GET", "DELETE"):
            connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=TIMEOUT)
            connection.request(method, RESPONSES + "/resp_missing")
            self.assertEqual(connection.getresponse().status, 404)
            connection.close()


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
