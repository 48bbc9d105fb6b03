"""The front door over real sockets, on the scripted engine: answers, errors, faults, release."""

import concurrent.futures
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts, Watch, events, text_of


class ServingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.scripts.add("forever", [{"text": "a"}], "stall")
        cls.scripts.text("slow", "", delay_ms=50, pieces=list("abcdefghijklmnopqrst"))
        cls.scripts.text("long", "x" * 3000, finish="length")
        cls.scripts.add("stall", [{"text": "a"}], "stall")
        cls.scripts.add("mute", [], "stall")
        cls.scripts.add("die", [{"text": "before"}, {"text": "x", "delay_ms": 200}], "die")
        cls.scripts.add("cut", [{"bytes": "f09f"}, {"bytes": "9880"}, {"bytes": "f0"}], "stop")
        cls.scripts.add("control", [{"text": "hi<|im_end|>never"}], "stop", control=True)
        cls.scripts.text("big", "y" * 2_000_000)
        cls.node = Node(cls.scripts.arguments() + ["--request-timeout", "2s"]).wait_ready()

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        cls.scripts.close()
        assert code == 0, code

    def tearDown(self):
        self.node.wait_until(lambda: self.node.get("/ready")[0] == 200, 15, "/ready again")
        self.node.wait_idle()

    def test_whole_answer(self):
        status, body = self.node.chat("script/hello")
        self.assertEqual(status, 200)
        self.assertEqual(body["object"], "chat.completion")
        self.assertEqual(body["choices"][0]["message"]["content"], "Hello, world!")
        self.assertEqual(body["choices"][0]["finish_reason"], "stop")
        self.assertEqual(body["usage"]["completion_tokens"], 13)

    def test_stream(self):
        connection, response = self.node.stream("script/hello")
        self.assertEqual(response.status, 200)
        self.assertTrue(response.getheader("content-type").startswith("text/event-stream"))
        self.assertEqual(text_of(response), ("Hello, world!", "stop", True))
        connection.close()

    def test_stream_is_not_held_back(self):
        connection, response = self.node.stream("script/slow")
        times = []
        for data in events(response):
            if data != "[DONE]" and json.loads(data)["choices"][0]["delta"].get("content"):
                times.append(time.monotonic())
        connection.close()
        self.assertEqual(len(times), 20)
        self.assertGreater(times[-1] - times[0], 0.7)

    def test_length_and_max_tokens(self):
        status, body = self.node.chat("script/long", max_tokens=7)
        self.assertEqual(body["choices"][0]["message"]["content"], "x" * 7)
        self.assertEqual(body["choices"][0]["finish_reason"], "length")
        status, body = self.node.chat("script/long")
        self.assertEqual(body["choices"][0]["finish_reason"], "length")
        self.assertEqual(body["usage"]["completion_tokens"], 3000)

    def test_stop_string(self):
        status, body = self.node.chat("script/hello", stop=["wor"])
        self.assertEqual(body["choices"][0]["message"]["content"], "Hello, ")
        self.assertEqual(body["choices"][0]["finish_reason"], "stop")

    def test_cut_characters_and_control_tokens(self):
        status, body = self.node.chat("script/cut")
        self.assertEqual(body["choices"][0]["message"]["content"], "\U0001F600\ufffd")
        status, body = self.node.chat("script/control")
        self.assertEqual(body["choices"][0]["message"]["content"], "hi")

    def test_scripts_are_read_again(self):
        self.scripts.text("again", "one")
        self.assertEqual(self.node.chat("script/again")[1]["choices"][0]["message"]["content"], "one")
        self.scripts.text("again", "two")
        self.assertEqual(self.node.chat("script/again")[1]["choices"][0]["message"]["content"], "two")

    def test_errors(self):
        self.assertEqual(self.node.chat("nobody")[0], 404)
        self.assertEqual(self.node.chat("script/missing")[0], 404)
        self.assertEqual(self.node.chat("script/../etc")[0], 404)
        status, headers, text = self.node.post("/v1/chat/completions", "{nonsense")
        self.assertEqual(status, 400)
        self.assertEqual(json.loads(text)["error"]["type"], "invalid_request_error")
        self.assertEqual(self.node.chat("script/hello", temperature=9)[0], 400)
        self.assertEqual(self.node.get("/nowhere")[0], 404)
        self.assertEqual(self.node.get("/v1/chat/completions")[0], 405)

    def test_context_overflow_names_both_numbers(self):
        body = {"model": "script/hello", "messages": [{"role": "user", "content": "z" * 200_000}]}
        status, headers, text = self.node.post("/v1/chat/completions", body)
        self.assertEqual(status, 400)
        error = json.loads(text)["error"]
        self.assertEqual(error["code"], "context_length_exceeded")
        self.assertIn("131072", error["message"])

    def test_deadline(self):
        start = time.monotonic()
        status, body = self.node.chat("script/mute")
        self.assertEqual(status, 504)
        self.assertLess(time.monotonic() - start, 4)

    def test_deadline_in_a_stream_is_seen(self):
        connection, response = self.node.stream("script/stall")
        with self.assertRaises((http.client.IncompleteRead, AssertionError)):
            text, reason, done = text_of(response)
            self.assertTrue(done, f"{reason}")
        connection.close()

    def test_a_device_that_dies_fails_its_requests_and_comes_back(self):
        connection, response = self.node.stream("script/die")
        seen_error = False
        try:
            text, reason, done = text_of(response)
            seen_error = not done
        except http.client.IncompleteRead:
            seen_error = True
        connection.close()
        self.assertTrue(seen_error)
        self.node.wait_until(
            lambda: self.node.chat("script/hello")[0] == 200, 10, "a restarted rank serves"
        )
        self.assertGreaterEqual(self.node.metric("troupe_actor_restarts_total"), 1)

    def test_a_slow_reader_is_parked_then_cut_and_others_go_on(self):
        node = Node(self.scripts.arguments() + [
            "--max-model-len", "3000000", "--kv-blocks", "30000", "--park-timeout", "1s"]).wait_ready()
        # A small receive buffer, so that the kernel does not hide the slow reader.
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        slow.connect(("127.0.0.1", node.port))
        try:
            body = json.dumps({"model": "script/big", "stream": True,
                               "messages": [{"role": "user", "content": "hi"}]})
            slow.sendall((f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
                          f"content-length: {len(body)}\r\n\r\n{body}").encode())
            slow.recv(100)
            node.wait_until(lambda: node.metric("troupe_rows_parked_total") >= 1, 20, "parked")
            self.assertEqual(node.chat("script/hello")[0], 200)
            node.wait_until(
                lambda: node.metric("troupe_rows_cut_slow_client_total") == 1, 10, "cut")
            node.wait_idle()
        finally:
            slow.close()
            self.assertEqual(node.stop(), 0)

    def test_models_health_metrics(self):
        self.assertEqual(self.node.get("/health")[0], 200)
        self.assertEqual(self.node.get("/live")[0], 200)
        status, text = self.node.get("/v1/models")
        self.assertEqual(json.loads(text)["object"], "list")
        status, text = self.node.get("/metrics")
        for name in ("vllm:num_requests_running", "vllm:time_to_first_token_seconds_bucket",
                     "troupe_kv_blocks_orphaned"):
            self.assertIn(name, text)

    def test_overload_is_503_with_retry_after(self):
        node = Node(self.scripts.arguments() +
                    ["--max-queue", "1", "--max-num-seqs", "2"]).wait_ready()
        try:
            open_streams = [node.stream("script/stall", timeout=10) for _ in range(2)]
            for _, response in open_streams:
                response.readline()
            # The third waits in the rank's queue and gets no byte yet.
            waiting = http.client.HTTPConnection("127.0.0.1", node.port, timeout=10)
            waiting.request("POST", "/v1/chat/completions", json.dumps(
                {"model": "script/stall", "messages": [{"role": "user", "content": "hi"}]}))
            node.wait_until(lambda: node.metric("vllm:num_requests_waiting") == 1, 5, "queued")
            status, headers, text = node.post("/v1/chat/completions", {
                "model": "script/hello", "messages": [{"role": "user", "content": "hi"}]})
            self.assertEqual(status, 503)
            self.assertIn("retry-after", {name.lower() for name in headers})
            for connection, response in open_streams:
                response.close()
                connection.close()
            waiting.close()
            node.wait_idle()
        finally:
            self.assertEqual(node.stop(), 0)

    def test_when_the_drains_time_is_over_each_client_is_told(self):
        node = Node(self.scripts.arguments() + ["--drain-timeout", "1s"]).wait_ready()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            whole = pool.submit(node.chat, "script/forever")
            connection, response = node.stream("script/forever")
            next(events(response))
            node.wait_until(lambda: node.metric("troupe_requests_live") == 2, 5, "both run")
            start = time.monotonic()
            node.process.send_signal(signal.SIGTERM)
            self.assertEqual(text_of(response)[1]["code"], "overloaded")
            self.assertEqual(whole.result(10)[0], 503)
        connection.close()
        self.assertEqual(node.process.wait(10), 0)
        self.assertLess(time.monotonic() - start, 2.5)
        node.stop()

    def test_drain_finishes_what_runs_and_refuses_the_rest(self):
        node = Node(self.scripts.arguments()).wait_ready()
        connection, response = node.stream("script/slow")
        result = {}
        response.readline()
        reader = threading.Thread(target=lambda: result.update(answer=text_of(response)))
        reader.start()
        self.assertEqual(node.stop(), 0)
        reader.join(10)
        self.assertEqual(result["answer"][1:], ("stop", True))
        connection.close()


class ReleaseTest(unittest.TestCase):
    """A client leaves: what its request held is free 50 ms after the running step's end.

    The clock starts when the client closes, and steps are short: at most 5 ms (script_model.hpp;
    below 4 ms on the simulated device). So 50 ms from the close is a little more than asked.
    """

    WITHIN = 0.05
    ROUNDS = 4

    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("steady", "", delay_ms=3, pieces=list("ab" * 5000))
        cls.scripts.add("silent", [], "stall")
        cls.scripts.text("big", "y" * 2_000_000)
        cls.node = Node(cls.scripts.arguments() + [
            "--max-num-seqs", "1", "--max-model-len", "3000000", "--kv-blocks", "30000"])
        cls.node.wait_ready()

    @classmethod
    def tearDownClass(cls):
        code = cls.node.stop()
        cls.scripts.close()
        assert code == 0, code

    def setUp(self):
        self.watch = Watch(self.node)

    def tearDown(self):
        self.watch.close()
        self.node.wait_idle()
        self.assertEqual(self.node.metric("troupe_dead_letters"), 0)

    def ask(self, model, content="hi", port=None, receive_buffer=None):
        """Sends a streamed request; nothing of the answer is read."""
        client = socket.socket()
        self.addCleanup(client.close)
        if receive_buffer:  # so that the kernel does not hide that nobody reads
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(10)
        client.connect(("127.0.0.1", port or self.node.port))
        body = json.dumps({"model": model, "stream": True,
                           "messages": [{"role": "user", "content": content}]})
        client.sendall((f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
                        f"content-length: {len(body)}\r\n\r\n{body}").encode())
        return client

    def reach(self, condition, what, watch=None):
        (watch or self.watch).seconds_until(condition, 10, what)

    def assert_released(self, client, others=0, watch=None):
        """Closes `client`; then only `others` requests, all of them running, hold anything."""
        watch = watch or self.watch
        before = watch.read()
        self.assertEqual(before["troupe_requests_live"], others + 1)

        def released(metrics):
            return (metrics["troupe_requests_live"] == others
                    and metrics["vllm:num_requests_running"] == others
                    and metrics["vllm:num_requests_waiting"] == 0
                    and (others > 0 or metrics["vllm:kv_cache_usage_perc"] == 0)
                    and metrics["troupe_http_connections"]
                    == before["troupe_http_connections"] - 1)

        client.close()
        self.assertLess(watch.seconds_until(released, 3, "released"), self.WITHIN)

    def assert_unread(self, client):
        """Not one byte of an answer has come."""
        client.setblocking(False)
        with self.assertRaises(BlockingIOError):
            client.recv(1)

    def test_while_queued(self):
        runner = self.ask("script/steady")
        runner.recv(1)
        for _ in range(self.ROUNDS):
            client = self.ask("script/steady")
            self.reach(lambda metrics: metrics["vllm:num_requests_waiting"] == 1, "queued")
            self.assert_unread(client)
            self.assert_released(client, others=1)
        while b'"content":"b"' not in runner.recv(1 << 16):  # the other one goes on
            pass
        self.assert_released(runner)

    def test_in_prefill(self):
        node = Node(["--device", "simulated", "--sim-prefill-base", "1ms",
                     "--sim-prefill-per-token", "20us", "--max-num-batched-tokens", "128"])
        watch = Watch(node.wait_ready())
        try:
            for _ in range(self.ROUNDS):
                # 470 chunks of 3.6 ms.
                client = self.ask("simulated", "w" * 60_000, node.port)
                self.reach(lambda metrics: metrics["vllm:num_requests_running"] == 1
                           and metrics["vllm:kv_cache_usage_perc"] > 0, "in prefill", watch)
                self.assert_unread(client)
                self.assert_released(client, watch=watch)
            self.assertEqual(watch.read()["vllm:generation_tokens_total"], 0)
        finally:
            watch.close()
            self.assertEqual(node.stop(), 0)

    def test_before_the_first_token(self):
        for _ in range(self.ROUNDS):
            client = self.ask("script/silent")
            self.reach(lambda metrics: metrics["vllm:num_requests_running"] == 1, "running")
            self.assert_unread(client)
            self.assert_released(client)

    def test_in_decode(self):
        for _ in range(self.ROUNDS):
            client = self.ask("script/steady")
            received = b""
            while received.count(b'"content":"a"') < 3:
                received += client.recv(1 << 16)
            self.assert_released(client)

    def test_while_written_to_at_full_speed(self):
        for _ in range(self.ROUNDS):
            client = self.ask("script/big")
            client.recv(1 << 16)
            self.assert_released(client)

    def test_while_nobody_reads(self):
        for _ in range(self.ROUNDS):
            parked = self.watch.read()["troupe_rows_parked_total"]
            client = self.ask("script/big", receive_buffer=8192)
            self.reach(lambda metrics: metrics["troupe_rows_parked_total"] > parked, "parked")
            self.assert_released(client)


class StartTest(unittest.TestCase):
    """What a node says when it cannot start."""

    def start(self, arguments):
        import subprocess
        from node import PROGRAM
        run = subprocess.run([PROGRAM, "node", "--admin-port", "0"] + arguments,
                             capture_output=True, text=True, timeout=30)
        return run.returncode, run.stdout + run.stderr

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            scripts = Scripts()
            code, output = self.start(["--port", str(port)] + scripts.arguments())
            self.assertEqual(code, 1)
            self.assertIn(str(port), output)
            self.assertIn("--port", output)
            scripts.close()

    def test_missing_model_and_wrong_file(self):
        code, output = self.start(["--model", "/nowhere/x.gguf"])
        self.assertNotEqual(code, 0)
        self.assertIn("/nowhere/x.gguf", output)
        code, output = self.start(["--model", __file__])
        self.assertNotEqual(code, 0)
        self.assertIn("GGUF", output)

    def test_mistyped_flag_key_and_value(self):
        code, output = self.start(["--prot", "1"])
        self.assertEqual(code, 2)
        self.assertIn("--port", output)
        code, output = self.start(["--port", "99999"])
        self.assertEqual(code, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
