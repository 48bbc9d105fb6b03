"""What a client of the chaos run does: one seeded exchange, of any protocol, in any bad way.

An exchange is drawn whole from its random numbers before it begins: what is asked, how the bytes
are spoilt, how fast they go and come, and where the client leaves. Then it is played, and the answer
judged: what is whole must be well-formed, and what was asked well and waited for must be answered.
"""

import asyncio
import json
import socket
import struct

PATHS = ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"]
LAST = {PATHS[0]: b"data: [DONE]", PATHS[1]: b"data: [DONE]",
        PATHS[2]: b"event: response.completed", PATHS[3]: b"event: message_stop"}
#: What may become of a good request: served, or no room for it.
GOOD = {200, 503, 529, 429}
#: Wait for any next byte. A node that needs longer hangs.
PATIENCE = 30


def body_of(path, model, stream, rng):
    text = "x" * rng.randint(1, 3000)
    fields = {"model": "script/" + model, "stream": stream}
    if path == PATHS[0]:
        fields["messages"] = [{"role": "user", "content": text}]
    elif path == PATHS[1]:
        fields["prompt"] = text
    elif path == PATHS[2]:
        fields.update(input=text, store=rng.random() < 0.3)
    else:
        fields.update(messages=[{"role": "user", "content": text}], max_tokens=30_000)
    if path in PATHS[:2] and rng.random() < 0.1:
        fields["n"] = 2
    return fields


def spoil(body, fields, rng):
    """A body that no server may take, in one of several ways."""
    kind = rng.choice(["truncated", "utf8", "types", "not_json", "empty", "deep"])
    if kind == "truncated":
        return body[: rng.randint(1, len(body) - 1)]
    if kind == "utf8":
        at = rng.randint(2, len(body) - 2)
        return body[:at] + rng.choice([b"\xff", b"\xc3", b"\xed\xa0\x80"]) + body[at:]
    if kind == "types":
        wrong = dict(fields)
        key = rng.choice([k for k in ("messages", "prompt", "input") if k in fields] + ["model"])
        wrong[key] = rng.choice([{"a": 1}, True, 1.5, {}])
        return json.dumps(wrong).encode()
    if kind == "deep":
        return b'{"messages":' + b"[" * 20_000
    return b"" if kind == "empty" else bytes(rng.randrange(256) for _ in range(40)) + b"{"


def chunked(body, rng, broken):
    pieces, at = [], 0
    while at < len(body):
        size = rng.randint(1, 700)
        part = body[at: at + size]
        pieces.append(b"%x\r\n%s\r\n" % (len(part), part))
        at += size
    if broken:
        pieces.insert(rng.randint(0, len(pieces)),
                      rng.choice([b"zz\r\n", b"-5\r\nhello\r\n", b"3\r\nlonger\r\n", b"ffffffffffffffffff\r\n"]))
    return b"".join(pieces) + b"0\r\n\r\n"


class Exchange:
    """Everything about one request, drawn from `rng`."""

    def __init__(self, rng, key):
        self.rng = rng
        self.path = rng.choice(PATHS)
        self.stream = rng.random() < 0.7
        self.leave = rng.choice(["never"] * 5 + ["sending", "waiting", "head", "body", "body"])
        model = rng.choice(["quick", "quick", "quick", "paced", "paced", "long", "mute"])
        if model == "mute":
            self.leave = "waiting"
        fields = body_of(self.path, model, self.stream, rng)
        body = json.dumps(fields).encode()
        self.bad = rng.random() < 0.2
        framing = rng.choice(["length", "length", "chunked"])
        broken = self.bad and framing == "chunked" and rng.random() < 0.5
        if self.bad and not broken:
            body = spoil(body, fields, rng)
        # With keys: one in ten has a wrong one, or none.
        self.refused = key is not None and rng.random() < 0.1
        fields = ["host: x", "connection: close"]
        if key is not None and not self.refused:
            fields.append(rng.choice(["authorization: Bearer ", "x-api-key: "]) + key)
        elif self.refused and rng.random() < 0.5:
            fields.append("authorization: Bearer wrong")
        fields.append("transfer-encoding: chunked" if framing == "chunked"
                      else f"content-length: {len(body)}")
        head = f"POST {self.path} HTTP/1.1\r\n" + "\r\n".join(fields) + "\r\n\r\n"
        self.bytes = head.encode() + (chunked(body, rng, broken) if framing == "chunked" else body)
        self.slow_writer = rng.random() < 0.15
        self.slow_reader = rng.random() < 0.15
        self.reset = rng.random() < 0.5

    async def play(self, port):
        """left, refused, bad, done; or what was wrong."""
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", port, limit=4096 if self.slow_reader else 1 << 20)
        try:
            return await self.talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            # What is refused early may be answered and closed before all of it was sent.
            return "refused" if self.refused or self.bad else f"lost: {error!r}"
        except asyncio.TimeoutError:
            return "silent: no byte came in time"
        finally:
            await self.close(writer)

    async def talk(self, reader, writer):
        if self.leave == "sending":
            await self.send(writer, self.bytes[: self.rng.randint(1, len(self.bytes) - 1)])
            await asyncio.sleep(self.rng.random() * 0.02)
            return "left"
        await self.send(writer, self.bytes)
        if self.leave == "waiting":
            await asyncio.sleep(self.rng.random() * 0.05)
            return "left"
        if self.leave == "head":
            await asyncio.wait_for(reader.read(self.rng.randint(1, 200)), PATIENCE)
            return "left"
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
        if self.leave == "body":
            await asyncio.wait_for(reader.read(self.rng.randint(1, 3000)), PATIENCE)
            await asyncio.sleep(self.rng.random() * 0.03)
            return "left"
        return self.judge(head, await self.read(reader))

    async def send(self, writer, data):
        if not self.slow_writer:
            writer.write(data)
            return await writer.drain()
        for _ in range(self.rng.randint(2, 8)):
            cut = self.rng.randint(0, len(data))
            writer.write(data[:cut])
            await writer.drain()
            data = data[cut:]
            await asyncio.sleep(self.rng.random() * 0.02)
        writer.write(data)
        await writer.drain()

    async def read(self, reader):
        data = b""
        while piece := await asyncio.wait_for(reader.read(2000 if self.slow_reader else 1 << 16), PATIENCE):
            data += piece
            if self.slow_reader:
                await asyncio.sleep(0.002)
        return data

    async def close(self, writer):
        if self.reset:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.close()
        try:
            await asyncio.wait_for(writer.wait_closed(), PATIENCE)
        except (OSError, asyncio.TimeoutError):
            pass

    def judge(self, head, data):
        status = int(head.split()[1])
        if b"transfer-encoding: chunked" in head:
            whole, data = dechunk(data)
            if not whole:
                return "cut: the last chunk is missing"
        try:
            return self.judge_body(status, data)
        except (ValueError, KeyError, TypeError) as error:
            return f"malformed: {status} {error!r} {data[-200:]!r}"

    def judge_body(self, status, data):
        if status != 200:
            check_error(self.path, json.loads(data))
            if self.refused:
                return "refused" if status in (400, 401, 413) else f"wrong status {status} for no key"
            if self.bad:
                return "bad" if 400 <= status < 500 else f"wrong status {status} for a bad body"
            return "refused" if status in GOOD else f"wrong status {status} for a good request"
        if self.refused:
            return "let in without a key"
        if self.bad:
            return "took a bad body"
        if self.stream and data.startswith((b"event:", b"data:", b":")):
            check_stream(self.path, data)
        else:
            check_whole(self.path, json.loads(data))
        return "done"


def dechunk(data):
    out = []
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return data == b"\r\n", b"".join(out)
        if len(data) < length + 2:
            return False, b""
        out.append(data[:length])
        data = data[length + 2:]
    return False, b"".join(out)


def check_error(path, body):
    error = body["error"]
    assert_text(error["message"], error["type"])
    if path == PATHS[3] and body["type"] != "error":
        raise ValueError("an error of Messages says so")


def check_whole(path, body):
    if path in PATHS[:2]:
        for choice in body["choices"]:
            assert_text(choice["finish_reason"])
    assert_text(body["id"])
    if path == PATHS[2] and body["status"] not in ("completed", "incomplete"):
        raise ValueError(body["status"])
    if path == PATHS[3]:
        assert_text(body["stop_reason"])
    if body["usage"] is None:
        raise ValueError("no usage")


def check_stream(path, data):
    for event in data.split(b"\n\n"):
        for line in event.split(b"\n"):
            if line.startswith(b"data: ") and line != b"data: [DONE]":
                json.loads(line[6:])
            elif line and not line.startswith((b"event: ", b": ", b"data: [DONE]")):
                raise ValueError(f"a line of no kind: {line[:80]!r}")
    last = data.rstrip(b"\n").split(b"\n\n")[-1]
    if not last.startswith(LAST[path]):
        raise ValueError(f"no end: {last[:80]!r}")


def assert_text(*values):
    for value in values:
        if not isinstance(value, str) or not value:
            raise ValueError(f"a text is expected, not {value!r}")
