"""Streams as they are on the wire: every byte is looked at, nothing is forgiven as clients do."""

import http.client
import json

from harness import TIMEOUT

FINISH = {"stop", "length", "tool_calls", "content_filter"}


class Wire:
    """One answer: status, headers (lower case), its bytes, and for streams its records.

    A record is (event or None, data as text). Comments are counted apart.
    """

    def __init__(self, port, path, body, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        try:
            data = body if isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request("POST", path, data,
                               {"content-type": "application/json", **(headers or {})})
            response = connection.getresponse()
            self.status = response.status
            self.headers = {name.lower(): value for name, value in response.getheaders()}
            self.raw, self.cut = self.read(response)
        finally:
            connection.close()
        self.records, self.comments = [], 0
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            self.split()

    @staticmethod
    def read(response):
        """(the bytes, whether they ended before the body did)"""
        raw = b""
        try:
            while piece := response.read1(1 << 16):
                raw += piece
        except http.client.IncompleteRead:
            return raw, True
        return raw, False

    def split(self):
        """Case chat_sse-03: data alone, an event only with data, or a comment; nothing else."""
        assert self.raw.endswith(b"\n\n") or self.cut, self.raw[-100:]
        for block in self.raw.decode().split("\n\n")[:-1]:
            lines = block.split("\n")
            if all(line.startswith(":") for line in lines):
                self.comments += 1
                continue
            event = None
            if lines[0].startswith("event: "):
                event = lines.pop(0).removeprefix("event: ")
            assert len(lines) == 1 and lines[0].startswith("data: "), block
            data = lines[0].removeprefix("data: ")
            assert data and "\r" not in data, block
            self.records.append((event, data))

    def objects(self):
        """The JSON of each record but [DONE]."""
        return [json.loads(data) for _, data in self.records if data != "[DONE]"]

    def json(self):
        assert self.headers["content-type"] == "application/json", self.headers
        return json.loads(self.raw)


def said_by_chat(chunks, choice=0):
    """What a strict client makes of the chunks of one choice; the same keys as said_by_body."""
    said = {"role": None, "content": "", "reasoning": "", "calls": [], "finish": None}
    for chunk in chunks:
        assert isinstance(chunk["choices"], list), chunk
        for part in (part for part in chunk["choices"] if part["index"] == choice):
            assert said["finish"] is None, "nothing follows the finish"
            delta = part["delta"]
            if "role" in delta:
                assert said["role"] is None and delta["role"] == "assistant", delta
                said["role"] = "assistant"
            assert said["role"], "the role comes first"
            said["content"] += delta.get("content") or ""
            said["reasoning"] += delta.get("reasoning_content") or ""
            if "tool_calls" in delta:
                add_calls(said["calls"], delta["tool_calls"])
            assert part["finish_reason"] in FINISH | {None}, part
            said["finish"] = part["finish_reason"]
    return said


def add_calls(calls, deltas):
    """Case tool_stream-01: an id, type and name once, at the first delta of a call."""
    assert deltas, "no empty list of calls"
    for delta in deltas:
        if delta["index"] == len(calls):
            assert delta["type"] == "function" and delta["id"] and delta["function"]["name"], delta
            calls.append({"id": delta["id"], "name": delta["function"]["name"], "arguments": ""})
        else:
            assert delta["index"] == len(calls) - 1 and set(delta) == {"index", "function"}, delta
            assert set(delta["function"]) == {"arguments"}, delta
        calls[-1]["arguments"] += delta["function"]["arguments"]


def said_by_body(body, choice=0):
    message = body["choices"][choice]["message"]
    calls = [{"id": call["id"], "name": call["function"]["name"],
              "arguments": call["function"]["arguments"]} for call in message.get("tool_calls", ())]
    return {"role": message["role"], "content": message["content"] or "",
            "reasoning": message.get("reasoning_content") or "", "calls": calls,
            "finish": body["choices"][choice]["finish_reason"]}
