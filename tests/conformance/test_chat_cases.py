"""Public reports about streams and bodies of Chat, each over a real socket on what the engine gave.

Each test names its cases (kinds chat_sse, tool_stream, reasoning, text of the developers' list).
"""

import json
import unittest

from harness import ConformanceTest, answer_chunks, call_markup
from wire import FINISH, Wire, said_by_body, said_by_chat

CHAT = "/v1/chat/completions"
ASKED = [{"role": "user", "content": "hi"}]


def tool(name):
    return {"type": "function", "function": {"name": name, "parameters": {
        "type": "object", "properties": {"cmd": {"type": "string"}}, "required": []}}}


TOOLS = [tool("run"), tool("f"), tool("g")]


class ChatCasesTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("plain", "plain text, and more", pieces=4)
        add("think", "b", thought="a")
        add("two", "", [("f", {}), ("g", {})], "Both.")
        add("run", "", [("run", {"cmd": "git status", "n": 3})], "Run.")
        scripts.add("json", [{"text": '{"quote":"the <think> and </think> tags"}'}])

    def post(self, model, stream=True, path=CHAT, **fields):
        body = {"model": "script/" + model, "messages": ASKED, "stream": stream, **fields}
        answer = Wire(self.node.port, path, body)
        self.assertEqual(answer.status, 200, answer.raw)
        return answer

    def both(self, model, **fields):
        """[what the stream said, what the body said]; ids of calls differ."""
        said = [said_by_chat(self.post(model, **fields).objects()),
                said_by_body(self.post(model, stream=False, **fields).json())]
        for call in (call for one in said for call in one["calls"]):
            self.assertTrue(call.pop("id"))
        return said

    def test_headers_of_a_stream(self):
        headers = self.post("plain").headers
        self.assertEqual((headers["cache-control"], headers["x-accel-buffering"]), ("no-cache", "no"))
        self.assertNotIn("content-encoding", headers)

    def test_usage_only_if_asked_for(self):
        """Case chat_sse-01"""
        for chunk in self.post("plain", max_tokens=4).objects():
            self.assertEqual((len(chunk["choices"]), chunk.get("usage")), (1, None))
        records = self.post("plain", stream_options={"include_usage": True}).records
        self.assertEqual(records[-1], (None, "[DONE]"))
        chunks = [json.loads(data) for _, data in records[:-1]]
        self.assertEqual([len(chunk["choices"]) for chunk in chunks], [1] * (len(chunks) - 1) + [0])
        self.assertEqual([chunk.get("usage") for chunk in chunks[:-1]], [None] * (len(chunks) - 1))
        self.assertGreater(chunks[-1]["usage"]["total_tokens"], 10)

    def test_only_data_on_openai_paths(self):
        """Case chat_sse-03; Wire refuses anything else in every other test too."""
        for path, fields in ((CHAT, {}), ("/v1/completions", {"prompt": "x", "messages": None})):
            answer = self.post("plain", path=path, **fields)
            self.assertEqual({event for event, _ in answer.records}, {None})
            self.assertEqual([data for _, data in answer.records].count("[DONE]"), 1)
        answer = self.post("plain", path="/v1/responses", input="hi", messages=None)
        for event, data in answer.records:
            self.assertEqual(event, json.loads(data)["type"])

    def test_the_engine_dies_in_mid_stream(self):
        """Cases chat_sse-05, errors-01: an error that says something, then a cut; never [DONE]."""
        self.scripts.add("die", [{"text": "x</think>before"}, {"text": "a", "delay_ms": 50}], "die",
                         control=True)
        answer = self.post("die")
        self.assertTrue(answer.cut)
        *chunks, last = answer.objects()
        self.assertEqual(said_by_chat(chunks)["content"], "before")
        self.assertEqual(said_by_chat(chunks)["finish"], None)
        self.assertTrue(last["error"].pop("message"))
        self.assertEqual(last, {"error": {"type": "server_error", "param": None, "code": "worker_lost"}})
        self.assertNotIn((None, "[DONE]"), answer.records)
        self.node.wait_until(lambda: self.node.get("/ready")[0] == 200, 10, "it serves again")

    def test_several_choices(self):
        """Cases chat_sse-07, tool_stream-01: all of it a choice of its own, counted from 0."""
        answer = self.post("two", n=2, tools=TOOLS, stream_options={"include_usage": True})
        chunks = answer.objects()
        for choice in (0, 1):
            said = said_by_chat(chunks, choice)
            self.assertEqual([call["name"] for call in said["calls"]], ["f", "g"])
            self.assertEqual(said["finish"], "tool_calls")
        self.assertEqual({part["index"] for chunk in chunks for part in chunk["choices"]}, {0, 1})
        self.assertEqual(sum(chunk.get("usage") is not None for chunk in chunks), 1)
        self.assertEqual([data for _, data in answer.records].count("[DONE]"), 1)

    def test_a_whole_body(self):
        """Case chat_sse-08"""
        body = self.post("two", stream=False, tools=TOOLS).json()
        self.assertEqual(body["object"], "chat.completion")
        self.assertIsInstance(body["created"], int)
        self.assertTrue(body["id"] and body["model"] and body["usage"])
        message = body["choices"][0]["message"]
        self.assertIsNone(message["content"])
        self.assertEqual(message["role"], "assistant")
        self.assertEqual([json.loads(call["function"]["arguments"])
                          for call in message["tool_calls"]], [{}, {}])
        self.assertNotIn("tool_calls", self.post("plain", stream=False).json()["choices"][0]["message"])

    def test_characters_that_are_cut(self):
        """Cases chat_sse-09, text-01: one byte a step; each record is JSON by itself."""
        text = "😀é漢字\u2028\u0001\r\n\"\\"
        fields = {"reasoning_effort": "none"}
        for end, tail in ((b"", ""), (b"\xf0\x9f", "\ufffd")):
            self.scripts.add("bytes", [{"bytes": f"{byte:02x}", "delay_ms": 1}
                                       for byte in text.encode() + end])
            for said in self.both("bytes", **fields):
                self.assertEqual(said["content"], text + tail)
        body = self.post("bytes", stream=False, logprobs=True, **fields).json()
        exact = [byte for token in body["choices"][0]["logprobs"]["content"] for byte in token["bytes"]]
        self.assertEqual(bytes(exact), text.encode() + b"\xf0\x9f")

    def tokens_of(self, text):
        status, _, answer = self.node.post("/tokenize", {"model": "script/plain", "prompt": text,
                                                         "add_special_tokens": False})
        self.assertEqual(status, 200, answer)
        return json.loads(answer)["tokens"]

    def test_steps_of_any_size(self):
        """Case tool_stream-03: the calls do not depend on how many tokens a step gives."""
        calls = call_markup(("run", {"cmd": "git status", "n": 3}), ("f", {}))
        tokens = self.tokens_of("plan</think>Now." + calls)
        seen = []
        for size in (1, 2, 3, 7, len(tokens)):
            chunks = [{"tokens": tokens[at:at + size], "delay_ms": 1}
                      for at in range(0, len(tokens), size)]
            self.scripts.add("steps", chunks)
            seen += self.both("steps", tools=TOOLS)
        for said in seen:
            self.assertEqual((said["reasoning"], said["content"], said["finish"]),
                             ("plan", "Now.", "tool_calls"))
            self.assertEqual([(call["name"], json.loads(call["arguments"])) for call in said["calls"]],
                             [("run", {"cmd": "git status", "n": 3}), ("f", {})])

    def test_a_call_was_required_and_none_was_made(self):
        """Case tool_stream-05: never tool_calls without a call."""
        self.scripts.add("no_call", [{"text": "Hello there"}])
        for said in self.both("no_call", tools=TOOLS, tool_choice="required"):
            self.assertEqual((said["content"], said["calls"], said["finish"]),
                             ("Hello there", [], "stop"))
        body = self.post("no_call", stream=False, tools=TOOLS, tool_choice="required").json()
        self.assertNotIn("tool_calls", body["choices"][0]["message"])

    def test_text_has_no_calls(self):
        """Cases tool_stream-07, tool_stream-08: what strict clients (the AI SDK) refuse."""
        chunks = self.post("plain", tools=TOOLS, reasoning_effort="none").objects()
        self.assertEqual(said_by_chat(chunks)["content"], "plain text, and more")
        for number, chunk in enumerate(chunks):
            part, = chunk["choices"]
            self.assertNotIn("tool_calls", part["delta"])
            self.assertEqual("role" in part["delta"], number == 0)
            self.assertIn(part["finish_reason"], FINISH | {None})

    def test_ids_of_calls(self):
        """Case tool_stream-09: not empty, and no two alike in a conversation."""
        ids = [call["id"] for _ in range(3)
               for call in said_by_chat(self.post("two", tools=TOOLS).objects())["calls"]]
        ids += [call["id"] for call in
                said_by_body(self.post("two", stream=False, tools=TOOLS).json())["calls"]]
        self.assertEqual((len(set(ids)), "" in ids), (8, False))

    def test_the_think_mark_in_a_json_value(self):
        """Case reasoning-03"""
        schema = {"type": "object", "properties": {"quote": {"type": "string"}}, "required": ["quote"]}
        for said in self.both("json", reasoning_effort="none", response_format={
                "type": "json_schema", "json_schema": {"name": "q", "schema": schema}}):
            self.assertEqual(json.loads(said["content"]), {"quote": "the <think> and </think> tags"})
            self.assertEqual(said["reasoning"], "")

    def test_the_end_of_reasoning(self):
        """Case reasoning-01: the mark is one token of the model; a spelled one is text, however cut."""
        tokens = self.tokens_of("plan<</think>" + call_markup(("run", {"cmd": "ls"})))
        self.scripts.add("mark", [{"tokens": [token], "delay_ms": 1} for token in tokens])
        for said in self.both("mark", tools=TOOLS):
            self.assertEqual((said["reasoning"], said["content"], len(said["calls"])), ("plan<", "", 1))
        self.scripts.add("spelled", [{"text": "plan<"}, {"text": "/think>", "delay_ms": 1}])
        for said in self.both("spelled", tools=TOOLS):
            self.assertEqual((said["reasoning"], said["content"]), ("plan</think>", ""))

    def test_names_of_reasoning(self):
        """Case reasoning-05: reasoning_content in answers, either name in the history."""
        for said in self.both("think"):
            self.assertEqual((said["reasoning"], said["content"]), ("a", "b"))
        prompts = []
        for name in ("reasoning_content", "reasoning"):
            turns = [*ASKED, {"role": "assistant", name: "because", "content": "b", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "run", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "ok"}]
            status, _, text = self.node.post(CHAT + "/render", {
                "model": "script/think", "messages": turns, "tools": TOOLS})
            self.assertEqual(status, 200, text)
            prompts.append(json.loads(text)["prompt"])
        self.assertIn("because", prompts[0])
        self.assertEqual(prompts[0], prompts[1])

    def test_stop_strings(self):
        """Cases text-03, text-05: no piece of one is sent, what only began like one is."""
        stops = {"reasoning_effort": "none", "stop": ["two-three-four", "ree Q"]}
        for chunks, content in ((["one ", "two-th", "ree", "-fo", "ur", "!"], "one "),
                                (["one ", "two-th", "ree", "-fiv", "e!"], "one two-three-five!")):
            self.scripts.add("stops", [{"text": text, "delay_ms": 1} for text in chunks])
            for said in self.both("stops", **stops):
                self.assertEqual((said["content"], said["finish"]), (content, "stop"))
        self.scripts.add("dots", [{"text": text, "delay_ms": 1} for text in ("a", "...", "b")])
        for said in self.both("dots", reasoning_effort="none", stop=[".."]):
            self.assertEqual((said["content"], said["finish"]), ("a", "stop"))
        answer = Wire(self.node.port, CHAT, {"model": "script/dots", "messages": ASKED,
                                             "stop": ["..", ""]})
        self.assertEqual((answer.status, answer.json()["error"]["param"]), (400, "stop[1]"))


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
