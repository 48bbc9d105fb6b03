"""Public reports about Messages, most of them of the Anthropic coding CLI, over real sockets.

Each test names its cases (kinds anthropic_sse, anthropic_req of the developers' list).
"""

import json
import unittest

from harness import ConformanceTest, answer_chunks
from node import Node, troupe
from wire import Wire

MESSAGES = "/v1/messages"
VERSION = {"anthropic-version": "2023-06-01", "x-api-key": "k"}
RUN = {"name": "run", "input_schema": {"type": "object", "properties": {"cmd": {"type": "string"}},
                                       "required": ["cmd"]}}
THINKING = {"type": "enabled", "budget_tokens": 1024}
FITS = {"thinking": {"thinking_delta", "signature_delta"}, "text": {"text_delta"},
        "tool_use": {"input_json_delta"}}


class MessagesCasesTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("hello", "Hello!", pieces=2)
        add("think", "answer", thought="plan", pieces=4)
        add("run", "", [("run", {"cmd": "ls"})])
        add("all", "Let me.", [("run", {"cmd": "ls"}), ("run", {"cmd": "pwd"})], "plan", pieces=9)
        scripts.add("halt", [{"text": "red, green, HA"}, {"text": "LT, blue", "delay_ms": 2}], "stall")

    def ask(self, script="hello", path=MESSAGES, headers=None, **fields):
        body = {"model": "script/" + script, "max_tokens": 2048, "stream": True,
                "thinking": {"type": "disabled"}, "messages": [{"role": "user", "content": "hi"}],
                **fields}
        return Wire(self.node.port, path, body, {**VERSION, **(headers or {})})

    def checked(self, answer):
        """The events of a stream, after the rules that hold for every one."""
        self.assertEqual(answer.status, 200, answer.raw)
        events = []
        for event, data in answer.records:
            events.append(json.loads(data))
            self.assertEqual(event, events[-1]["type"], "case anthropic_sse-10")
        kinds = [event["type"] for event in events if event["type"] != "ping"]
        for once in ("message_start", "message_delta", "message_stop"):  # case anthropic_sse-07
            self.assertEqual(kinds.count(once), 1)
        self.assertEqual((kinds[0], kinds[-2:]), ("message_start", ["message_delta", "message_stop"]))
        opened, index = None, -1
        for event in events:
            if event["type"] == "content_block_start":
                self.assertIsNone(opened)
                opened, index = event["content_block"]["type"], index + 1
            if event["type"].startswith("content_block"):
                self.assertEqual(event["index"], index)
            if event["type"] == "content_block_delta":
                self.assertIn(event["delta"]["type"], FITS[opened], "case anthropic_sse-01")
            if event["type"] == "content_block_stop":
                opened = None
        self.assertIsNone(opened)
        return events

    @staticmethod
    def blocks(events):
        return [event["content_block"]["type"] for event in events
                if event["type"] == "content_block_start"]

    def test_a_delta_fits_its_block(self):
        """Case anthropic_sse-01: thinking in a block of its own, signed, before the text."""
        for script in ("think", "all"):
            events = self.checked(self.ask(script, thinking=THINKING, tools=[RUN]))
            self.assertEqual(self.blocks(events)[:2], ["thinking", "text"])
            deltas = [event["delta"]["type"] for event in events
                      if event["type"] == "content_block_delta" and event["index"] == 0]
            self.assertEqual(deltas[-1], "signature_delta")
            self.assertEqual(deltas.count("signature_delta"), 1)

    def test_a_call_alone(self):
        """Case anthropic_sse-03: no empty text block, and stop_reason tool_use."""
        events = self.checked(self.ask("run", tools=[RUN]))
        self.assertEqual(self.blocks(events), ["tool_use"])
        self.assertEqual(events[-2]["delta"]["stop_reason"], "tool_use")
        body = self.ask("run", tools=[RUN], stream=False).json()
        self.assertEqual([block["type"] for block in body["content"]], ["tool_use"])
        self.assertEqual((body["stop_reason"], body["content"][0]["input"]), ("tool_use", {"cmd": "ls"}))

    def test_usage_at_both_ends(self):
        """Cases anthropic_sse-05, anthropic_sse-07, anthropic_req-06"""
        events = self.checked(self.ask())
        message = events[0]["message"]
        self.assertEqual({key: message[key] for key in (
            "type", "role", "content", "stop_reason", "stop_sequence")}, {
                "type": "message", "role": "assistant", "content": [], "stop_reason": None,
                "stop_sequence": None})
        self.assertTrue(message["id"] and message["model"])
        for usage in (message["usage"], events[-2]["usage"]):
            self.assertLessEqual({"input_tokens", "output_tokens", "cache_creation_input_tokens",
                                  "cache_read_input_tokens"}, set(usage))
        self.assertEqual(events[-2]["delta"], {"stop_reason": "end_turn", "stop_sequence": None})
        self.assertGreater(events[-2]["usage"]["output_tokens"], 1)

    def test_a_stop_sequence(self):
        """Case anthropic_sse-09: no part of it is sent, and the engine stops; the script would not."""
        answer = self.ask("halt", stop_sequences=["HALT"])
        events = self.checked(answer)
        said = "".join(event["delta"]["text"] for event in events
                       if event["type"] == "content_block_delta")
        self.assertEqual(said, "red, green, ")
        self.assertEqual(events[-2]["delta"], {"stop_reason": "stop_sequence", "stop_sequence": "HALT"})
        self.assert_nothing_is_held(1)

    def test_the_request_of_the_coding_cli(self):
        """Case anthropic_req-01: unknown fields, betas and versions are no reason to refuse."""
        for version in ("2023-06-01", "2026-10-21", "not-a-date"):
            answer = self.ask(
                path=MESSAGES + "?beta=true", headers={
                    "anthropic-version": version,
                    "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14"},
                context_management={"edits": []}, metadata={"user_id": "u"},
                thinking={"type": "adaptive", "display": "omitted"}, output_config={"effort": "high"},
                system=[{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
                messages=[{"role": "user", "content": [
                    {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}],
                tools=[{**RUN, "cache_control": {"type": "ephemeral"}, "eager_input_streaming": True}],
                mcp_servers=[])
            self.checked(answer)

    def test_servers_of_tools_are_refused(self):
        """Case anthropic_req-01, differs on purpose (docs/gateway.md): an answer without its tools."""
        answer = self.ask(mcp_servers=[{"type": "url", "url": "https://x", "name": "y"}])
        self.assertEqual((answer.status, answer.json()["error"]["type"]), (400, "invalid_request_error"))
        self.assertIn("mcp_servers", answer.json()["error"]["message"])

    def rendered(self, recipe, turns):
        """The prompt, by the recipe that the gateway uses."""
        body = {"model": "m", "max_tokens": 64, "messages": turns, "system": "top", "tools": [RUN]}
        run = troupe("recipe", "render", "--text", "--model", recipe, "--protocol", "messages",
                     typed=json.dumps(body) + "\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.rstrip("\n")

    def test_system_turns_stay_in_place(self):
        """Case anthropic_req-03: a longer conversation begins as the shorter one did."""
        turns = [{"role": "user", "content": "a"},
                 {"role": "assistant", "content": [
                     {"type": "tool_use", "id": "t1", "name": "run", "input": {}}]},
                 {"role": "user", "content": [
                     {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
                 {"role": "system", "content": "<total_tokens>5000 left</total_tokens>"},
                 {"role": "assistant", "content": "Done."},
                 {"role": "user", "content": "more"},
                 {"role": "system", "content": "<total_tokens>4000 left</total_tokens>"}]
        for recipe in ("deepseek-v4", "deepseek-v4.1"):
            shown = [self.rendered(recipe, turns[:end]) for end in (1, 4, 7)]
            for shorter, longer in zip(shown, shown[1:]):
                self.assertTrue(longer.startswith(shorter), f"{recipe}:\n{shorter}\n---\n{longer}")

    def test_count_tokens_and_unknown_paths(self):
        """Case anthropic_req-05: errors in Anthropic's form, never an empty 200."""
        answer = Wire(self.node.port, MESSAGES + "/count_tokens", {"model": "script/hello"}, VERSION)
        self.assertEqual((answer.status, answer.json()["type"]), (400, "error"))
        self.assertIn("messages", answer.json()["error"]["message"])
        for path in ("/count_tokens?beta=true", "/count_tokens"):
            counted = Wire(self.node.port, MESSAGES + path, {
                "model": "script/hello", "messages": [{"role": "user", "content": "hi"}]}, VERSION)
            self.assertGreater(counted.json()["input_tokens"], 1)
        answer = Wire(self.node.port, MESSAGES + "/nothing", {}, VERSION)
        self.assertEqual((answer.status, answer.json()["error"]["type"]), (404, "not_found_error"))
        answer = Wire(self.node.port, "/v1/nothing", {}, VERSION)
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (404, "not_found"))

    def test_models_in_both_shapes(self):
        """Case anthropic_req-07: by the header anthropic-version; unknown queries are fine."""
        node = Node(["--device", "simulated", "--served-model-name", "claude-sim"]).wait_ready()
        self.addCleanup(node.stop)
        status, body = self.models(node, VERSION)
        model, = body["data"]
        self.assertEqual((status, model["type"], model["id"]), (200, "model", "claude-sim"))
        self.assertLessEqual({"display_name", "created_at"}, set(model))
        self.assertEqual((body["has_more"], body["first_id"], body["last_id"]),
                         (False, "claude-sim", "claude-sim"))
        status, body = self.models(node, {})
        self.assertEqual((status, body["object"], body["data"][0]["id"]), (200, "list", "claude-sim"))
        self.assertLessEqual({"object", "created", "owned_by"}, set(body["data"][0]))

    def models(self, node, headers):
        status, text = node.get("/v1/models?limit=1000&later=x", headers=headers)
        return status, json.loads(text)


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
