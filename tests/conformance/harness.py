"""What all conformance tests share: one scripted node a class, and the real clients of its gateway.

The node plays scripts with the prompts and tokens of DeepSeek V4.1, so that reasoning and tool calls
are made of real control tokens. Every wait has a deadline.
"""

import asyncio
import json
import operator
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "live"))
from node import Node, Scripts, troupe

TIMEOUT = 20  # seconds, for one call of a client and for one coroutine
SYNC, ASYNC = 0, 1  # the clients of a vendor


def call_markup(*calls):
    """A block of tool calls as V4.1 writes it; each call is (name, {parameter: value})."""
    lines = ["\n\n<｜DSML｜ calls>"]
    for name, arguments in calls:
        lines.append(f'<｜DSML｜ invoke name="{name}">')
        for key, value in arguments.items():
            plain = isinstance(value, str)
            text = value if plain else json.dumps(value, ensure_ascii=False)
            lines.append(f'<｜DSML｜ parameter name="{key}" string="{str(plain).lower()}">{text}'
                         "</｜DSML｜ parameter>")
        lines.append("</｜DSML｜ invoke>")
    return "\n".join(lines + ["</｜DSML｜ calls>"])


def answer_chunks(text="", calls=(), thought=None, pieces=1):
    """The chunks of one turn of a script: what the model thinks (if it does), says and calls."""
    whole = ("" if thought is None else thought + "</think>") + text
    if calls:
        whole += call_markup(*calls)
    atoms = re.findall("</think>|｜DSML｜|.", whole, re.DOTALL)  # a control token is never cut
    size = max(1, -(-len(atoms) // pieces))
    return [{"text": "".join(atoms[at:at + size]), "delay_ms": 2 if at else 0}  # steps of their own
            for at in range(0, len(atoms), size)]


class Turns:
    """A model that answers each turn of a conversation with the next of `turns`.

    Scripts are read anew for each request: play(i) puts turn i in place, and whoever runs a tool
    calls it before the next request.
    """

    def __init__(self, scripts, name, turns):
        self.scripts, self.name, self.turns, self.at = scripts, name, turns, 0
        self.model = "script/" + name
        self.play(0)

    def play(self, turn):
        self.at = turn
        self.scripts.add(self.name, self.turns[turn], control=True)

    def advance(self):
        self.play(self.at + 1)


def call_of(client, method):
    return operator.attrgetter(method)(client)


def whole_call(method, fields):
    """How a sync and how an async client is used for one answer."""
    def use(client):
        return call_of(client, method)(**fields)
    return use, use


def streamed_call(method, fields):
    """The same for the list of a stream's events."""
    async def collect(client):
        return [event async for event in await call_of(client, method)(stream=True, **fields)]
    return lambda client: list(call_of(client, method)(stream=True, **fields)), collect


def helped_call(method, final, fields):
    """The same for a stream helper: its events, and what its method `final` returns."""
    def use(client):
        with call_of(client, method)(**fields) as stream:
            return list(stream), getattr(stream, final)()

    async def use_async(client):
        async with call_of(client, method)(**fields) as stream:
            return [event async for event in stream], await getattr(stream, final)()
    return use, use_async


class ConformanceTest(unittest.TestCase):
    """A node with the scripts of add_scripts(), and the official clients of its gateway.

    Each call of a client runs in every way that it has: whole(), streamed() and helped() return
    the result of the sync client and that of the async one.
    """

    flags = ["--script-recipe", "deepseek-v4.1"]
    retries = 0

    @classmethod
    def add_scripts(cls, scripts):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.addClassCleanup(cls.scripts.close)
        cls.add_scripts(cls.scripts)
        cls.node = Node(cls.scripts.arguments() + cls.flags).wait_ready()
        cls.addClassCleanup(cls.stop_node)
        cls.url = f"http://127.0.0.1:{cls.node.port}"
        cls.runner = asyncio.Runner()
        cls.addClassCleanup(cls.runner.close)
        cls.made = {}
        cls.addClassCleanup(cls.close_clients)

    @classmethod
    def stop_node(cls):
        code = cls.node.stop()
        assert code == 0, code

    @classmethod
    def close_clients(cls):
        for sync, other in cls.made.values():
            sync.close()
            cls.run_async(other.close())

    def tearDown(self):
        self.assert_nothing_is_held()

    def assert_nothing_is_held(self, within=5):
        """By the metrics, and by the actors that `troupe admin` lists."""
        self.node.wait_idle(within)
        listed = troupe("admin", "--url", f"http://127.0.0.1:{self.node.admin_port}", "ps", "--json")
        kinds = [actor["kind"] for actor in json.loads(listed.stdout)["actors"]]
        self.assertNotIn("request", kinds)

    @classmethod
    def run_async(cls, work):
        return cls.runner.run(asyncio.wait_for(work, TIMEOUT))

    @classmethod
    def clients(cls, vendor):
        """(sync, async) of "openai" or "anthropic"; they live as long as the class."""
        if vendor not in cls.made:
            options = {"api_key": "any", "max_retries": cls.retries, "timeout": TIMEOUT}
            if vendor == "openai":
                import openai
                options["base_url"] = cls.url + "/v1"
                cls.made[vendor] = openai.OpenAI(**options), openai.AsyncOpenAI(**options)
            else:
                import anthropic
                options["base_url"] = cls.url
                cls.made[vendor] = anthropic.Anthropic(**options), anthropic.AsyncAnthropic(**options)
        return cls.made[vendor]

    @classmethod
    def of_each(cls, vendor, use, use_async):
        """What both clients give."""
        return [cls.of_one(at, vendor, use, use_async) for at in (SYNC, ASYNC)]

    @classmethod
    def of_one(cls, which, vendor, use, use_async):
        client = cls.clients(vendor)[which]
        return use(client) if which == SYNC else cls.run_async(use_async(client))

    def whole(self, vendor, method, **fields):
        """Both answers."""
        return self.of_each(vendor, *whole_call(method, fields))

    def streamed(self, vendor, method, **fields):
        """The events of both streams."""
        return self.of_each(vendor, *streamed_call(method, fields))

    def helped(self, vendor, method, final, **fields):
        """Of both clients' stream helpers: (events, what their method `final` returns)."""
        return self.of_each(vendor, *helped_call(method, final, fields))

    def errors(self, vendor, method, **fields):
        """The exceptions of both clients, without and with a stream."""
        def use(client):
            with self.assertRaises(Exception) as caught:
                call_of(client, method)(**fields)
            return caught.exception

        async def use_async(client):
            with self.assertRaises(Exception) as caught:
                await call_of(client, method)(**fields)
            return caught.exception
        caught = self.of_each(vendor, use, use_async)
        if "stream" not in fields and method.endswith("create"):
            caught += self.errors(vendor, method, stream=True, **fields)
        return caught
