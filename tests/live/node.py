"""Starts real nodes for live tests, and talks to them with nothing but the standard library.

A Node is a process of build/release/bin/troupe on free ports, ended (and checked to end) by stop().
"""

import collections
import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

SOURCE = os.environ.get("TROUPE_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
PROGRAM = os.environ.get("TROUPE_PROGRAM", os.path.join(SOURCE, "build/release/bin/troupe"))


def troupe(*arguments, typed="", environment=None, timeout=60):
    """Runs a subcommand to its end: returncode, stdout, stderr."""
    return subprocess.run([PROGRAM, *arguments], input=typed, capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **(environment or {})})


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Node:
    """One `troupe node`. `arguments` are its flags; ports are chosen here."""

    def __init__(self, arguments, gateway=True, pass_fds=()):
        self.port = free_port()
        self.admin_port = free_port()
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log", delete=False)
        command = [PROGRAM, "node", "--port", str(self.port), "--admin-port", str(self.admin_port)]
        self.process = subprocess.Popen(
            command + arguments, stdout=self.log, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, pass_fds=pass_fds)
        if gateway:
            self.wait_until(lambda: self.get("/live")[0] == 200, 30, "/live")

    def wait_until(self, condition, seconds, what):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise AssertionError(f"the node ended with {self.process.returncode}:\n{self.output()}")
            try:
                if condition():
                    return
            except OSError:
                pass
            time.sleep(0.02)
        raise AssertionError(f"not within {seconds} s: {what}\n{self.output()}")

    def wait_ready(self):
        self.wait_until(lambda: self.get("/ready")[0] == 200, 30, "/ready")
        return self

    def output(self):
        with open(self.log.name) as log:
            return log.read()[-4000:]

    def get(self, path, port=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=10)
        try:
            connection.request("GET", path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def post(self, path, body, timeout=60, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            data = body if isinstance(body, (bytes, str)) else json.dumps(body)
            connection.request("POST", path, data,
                               {"content-type": "application/json", **(headers or {})})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read().decode()
        finally:
            connection.close()

    def chat(self, model, **fields):
        body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields}
        status, headers, text = self.post("/v1/chat/completions", body)
        return status, json.loads(text)

    def stream(self, model, timeout=60, **fields):
        """Opens a stream; the caller reads and closes (connection, response)."""
        body = {
            "model": model,
            "messages": [{"role": "user", "content": "hi"}],
            "stream": True,
            **fields,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.request(
            "POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"}
        )
        return connection, connection.getresponse()

    def metric(self, name):
        """The sum of a metric's series; 0 if nothing was noted yet."""
        total = 0.0
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith(name + "{") or line.startswith(name + " "):
                total += float(line.rsplit(" ", 1)[1])
        return total

    def idle(self):
        """Nothing is held for any request."""
        return (
            self.metric("troupe_requests_live") == 0
            and self.metric("vllm:kv_cache_usage_perc") == 0
            and self.metric("vllm:num_requests_running") == 0
        )

    def wait_idle(self, seconds=5):
        self.wait_until(self.idle, seconds, "everything is released")
        assert self.metric("troupe_kv_blocks_orphaned") == 0

    def rss_mib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        return 0

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stacks(self):
        """Where its threads are, if gdb is there to tell."""
        try:
            return subprocess.run(
                ["gdb", "-batch", "-p", str(self.process.pid), "-ex", "thread apply all bt 16"],
                capture_output=True, text=True, timeout=60).stdout[-12000:]
        except (OSError, subprocess.TimeoutExpired):
            return "(no stacks: gdb is missing or did not answer)"

    def stop(self, within=20):
        """SIGTERM; the exit code. A node that does not end in time is a failure."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(within)
        except subprocess.TimeoutExpired:
            stacks = self.stacks()
            self.kill()
            raise AssertionError(
                f"the node did not stop within {within} s:\n{self.output()}\n{stacks}")
        finally:
            self.log.close()
            os.unlink(self.log.name)


class Watch:
    """Reads a node's metrics over one connection, which stays open: some 1 ms a reading."""

    def __init__(self, node):
        self.connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=10)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self):
        """The sum of each metric's series; 0 if nothing was noted yet."""
        self.connection.request("GET", "/metrics")
        totals = collections.defaultdict(float)
        for line in self.connection.getresponse().read().decode().splitlines():
            if not line.startswith("#"):
                series, value = line.rsplit(" ", 1)
                totals[series.split("{")[0]] += float(value)
        return totals

    def seconds_until(self, condition, within, what):
        start = time.monotonic()
        while True:
            metrics = self.read()
            seconds = time.monotonic() - start
            if condition(metrics):
                return seconds
            if seconds > within:
                raise AssertionError(f"not within {within} s: {what}\n{dict(metrics)}")

    def close(self):
        self.connection.close()


class Scripts:
    """A directory of scripts for the scripted engine."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="troupe-scripts-")

    def add(self, name, chunks, finish="stop", control=False):
        script = {"chunks": chunks, "finish": finish, "control": control}
        with open(os.path.join(self.directory.name, name + ".json"), "w") as file:
            json.dump(script, file)

    def text(self, name, text, delay_ms=0, pieces=None, finish="stop"):
        parts = pieces or [text]
        self.add(name, [{"text": part, "delay_ms": delay_ms} for part in parts], finish)

    def arguments(self):
        return ["--device", "scripted", "--script-directory", self.directory.name]

    def close(self):
        self.directory.cleanup()


def events(response):
    """The data of each server-sent event, as text, as it comes."""
    for line in response:
        if line.startswith(b"data: "):
            yield line[6:].strip().decode()


def text_of(response):
    """Joins a stream's content. Returns (text, finish_reason, saw [DONE])."""
    text, reason, done = "", None, False
    for data in events(response):
        if data == "[DONE]":
            done = True
            continue
        chunk = json.loads(data)
        if "error" in chunk:
            return text, chunk["error"], False
        for choice in chunk["choices"]:
            text += choice["delta"].get("content") or ""
            reason = choice["finish_reason"] or reason
    return text, reason, done
