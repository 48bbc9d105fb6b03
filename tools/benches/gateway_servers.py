"""The servers of the gateway's bench: ours, the routers, and the worker behind them."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from tools.benches.figure import Missing, run_json

START_SECONDS = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def load(bench, port, model, **options):
    command = [bench.program("bench_gateway_load"), "--port", str(port), "--model", model]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), value]
    return run_json(command)


def tree_of(pid):
    """A process and those that it has started."""
    pids = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            children = pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text()
            for child in children.split():
                pids += tree_of(int(child))
    except OSError:
        pass  # it has just ended
    return pids


class Server:
    """A process that listens on `port`, with the CPU time and memory of its whole tree."""

    name = ""

    def __init__(self, bench):
        self.bench = bench
        self.port = free_port()
        self.process = None
        self.folder = tempfile.TemporaryDirectory(prefix="troupe-bench-")

    def command(self):
        raise NotImplementedError

    def model(self, kind):
        return "mock"

    def start(self):
        self.process = self.spawn(self.command(), self.name)
        self.wait_for("/v1/chat/completions")
        return self

    def spawn(self, command, name):
        log = open(pathlib.Path(self.folder.name) / (name + ".log"), "w", encoding="utf-8")
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT,
                                start_new_session=True, cwd=self.folder.name)

    def wait_for(self, path):
        body = json.dumps({"model": self.model("json"), "max_tokens": 5,
                           "messages": [{"role": "user", "content": "hi"}]}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body,
                                         {"content-type": "application/json"})
        deadline, last = time.monotonic() + START_SECONDS, None
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(request, timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (OSError, urllib.error.URLError) as failure:
                last = failure
            time.sleep(0.1)
        logs = "".join(file.read_text()[-500:] for file in pathlib.Path(self.folder.name).iterdir()
                       if file.suffix == ".log")
        self.stop()
        raise Missing(f"{self.name} did not start: {last}; {logs}")

    def stop(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def cpu_seconds(self):
        ticks = 0
        for pid in tree_of(self.process.pid):
            try:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return ticks / os.sysconf("SC_CLK_TCK")

    def rss_kb(self):
        pages = 0
        for pid in tree_of(self.process.pid):
            try:
                pages += int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
            except OSError:
                pass
        return pages * os.sysconf("SC_PAGE_SIZE") / 1024

    @staticmethod
    def wait(seconds):
        time.sleep(seconds)


class Worker(Server):
    name = "worker"

    def __init__(self, bench, chunks=200, interval_ms=0):
        super().__init__(bench)
        self.chunks, self.interval_ms = chunks, interval_ms

    def command(self):
        return [self.bench.program("bench_gateway_worker"), "--port", str(self.port), "--chunks",
                str(self.chunks), "--interval-ms", str(self.interval_ms)]


SCRIPTS = {
    "json": [{"text": "Hello! How can I help?"}],
    "paced": [{"tokens": [116], "delay_ms": 20}] * 200,
    **{f"rate{rate}": [{"tokens": [116], "delay_ms": 1000 // rate}] * 60 for rate in (1, 2, 5, 10)},
}


class Troupe(Server):
    """A gateway, and its ranks in a process of their own behind a link."""

    name = "troupe"

    def __init__(self, bench, ranks=1):
        super().__init__(bench)
        self.ranks, self.link, self.rank_process = ranks, free_port(), None
        self.scripts = pathlib.Path(self.folder.name) / "scripts"
        self.scripts.mkdir()
        for name, chunks in SCRIPTS.items():
            (self.scripts / (name + ".json")).write_text(
                json.dumps({"chunks": chunks, "finish": "stop"}))

    def model(self, kind):
        return "script/" + kind

    def command(self):
        return self.node("gateway", "--port", str(self.port), "--max-connections", "20000",
                         "--max-queue", "20000", "--cluster-listen", f"127.0.0.1:{self.link}")

    def node(self, role, *more):
        return [self.bench.program("troupe"), "node", "--roles", role, "--admin-port", "0",
                "--device", "scripted", "--script-directory", str(self.scripts),
                "--log-level", "error", "--max-num-seqs", "4096", "--max-num-batched-tokens", "8192",
                "--kv-blocks", "16384", *more]

    def start(self):
        self.process = self.spawn(self.command(), "gateway")
        self.rank_process = self.spawn(
            self.node("rank", "--join", f"127.0.0.1:{self.link}", "--ranks", str(self.ranks)),
            "rank")
        self.wait_for("/v1/chat/completions")
        return self

    def stop(self):
        if self.rank_process and self.rank_process.poll() is None:
            os.killpg(self.rank_process.pid, signal.SIGKILL)
            self.rank_process.wait()
        super().stop()


class TroupeNode(Troupe):
    """Gateway and rank in one process."""

    def command(self):
        return self.node("gateway,rank", "--port", str(self.port))

    def start(self):
        return Server.start(self)


class Router(Server):
    """A router in front of the worker."""

    environment = ""

    def __init__(self, bench, worker_port):
        super().__init__(bench)
        self.worker = f"http://127.0.0.1:{worker_port}"
        self.python = None

    def start(self):
        self.python = self.bench.peer_python(self.environment)
        if self.python is None:
            raise Missing("the peers are not installed: --install-peers")
        return super().start()

    def options(self):
        return ["--worker-urls", self.worker, "--policy", "round_robin", "--host", "127.0.0.1",
                "--port", str(self.port), "--prometheus-host", "127.0.0.1", "--prometheus-port",
                str(free_port()), "--log-level", "error", "--disable-circuit-breaker",
                "--disable-retries", "--max-concurrent-requests", "-1"]


class SglangRouter(Router):
    name, environment = "sglang_router", "gateway-peers"

    def command(self):
        return [self.python, "-m", "sglang_router.launch_router", *self.options()]


class Smg(Router):
    name, environment = "smg", "gateway-peers-smg"

    def command(self):
        return [str(pathlib.Path(self.python).parent / "smg"), "launch", *self.options()]


NGINX_CONF = """worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error error; daemon off;
worker_rlimit_nofile 8192; events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 10000000; keepalive_timeout 65;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream worker {{ server {worker}; keepalive 1024; keepalive_requests 10000000; }}
  server {{ listen 127.0.0.1:{port} backlog=4096;
    location / {{ proxy_pass http://worker; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; tcp_nodelay on; }} }} }}
"""


class Nginx(Server):
    name = "nginx"

    def __init__(self, bench, worker_port):
        super().__init__(bench)
        self.worker = f"127.0.0.1:{worker_port}"

    def command(self):
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        if not os.path.exists(program):
            raise Missing("nginx is not installed: apt-get install nginx-light")
        conf = pathlib.Path(self.folder.name) / "nginx.conf"
        conf.write_text(NGINX_CONF.format(folder=self.folder.name, worker=self.worker,
                                          port=self.port))
        return [program, "-c", str(conf)]
