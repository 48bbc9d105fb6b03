"""LangChain against the gateway: its OpenAI chat (both APIs) and Anthropic models, sync and async.

Answers, streams, bound tools, structured answers, and agents that run tools over several turns.
"""

import asyncio
import gc
import os
import unittest

from harness import TIMEOUT, ConformanceTest, Turns, answer_chunks

import anthropic
import langchain_anthropic
import langchain_openai
import openai
import pydantic
from langchain.agents import create_agent
from langchain_core.messages import AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

os.environ["LANGSMITH_TRACING"] = "false"
TIDES = {"Bergen": "1.5 m", "Oslo": "0.3 m", "Brest": "7 m"}
TURNS = [
    answer_chunks("I ask for two.", [("tide", {"city": "Bergen"}), ("tide", {"city": "Oslo"})],
                  "Two cities.", pieces=6),
    answer_chunks("", [("tide", {"city": "Brest"})], "One more.", pieces=4),
    answer_chunks("Brest, with 7 m.", (), "Compare.", pieces=4),
]


class Tide(pydantic.BaseModel):
    """The tide of a city."""
    city: str
    metres: float


class LangChainTest(ConformanceTest):
    @classmethod
    def add_scripts(cls, scripts):
        def add(name, *args, **more):
            scripts.add(name, answer_chunks(*args, **more), control=True)
        add("hello", "Hello, wörld!", thought="Greet.", pieces=5)
        add("json", '{"city": "Bergen", "metres": 1.5}', thought="Look.", pieces=3)
        add("forced", "", [("Tide", {"city": "Bergen", "metres": 1.5})], pieces=3)
        scripts.add("long", [{"text": "Think.</think>"}, *[
            {"text": letter, "delay_ms": 5} for letter in "ab" * 1000]], control=True)
        cls.turns = Turns(scripts, "loop", TURNS)

    def models(self, script, thinking=True):
        """kind → a model that plays the script"""
        options = {"model": "script/" + script, "api_key": "any", "max_retries": 0,
                   "timeout": TIMEOUT}
        effort = "high" if thinking else "none"
        anthropic = {"thinking": {"type": "enabled", "budget_tokens": 2000}} if thinking else {}
        return {
            "chat": langchain_openai.ChatOpenAI(base_url=self.url + "/v1", reasoning_effort=effort,
                                                use_responses_api=False, stream_usage=True,
                                                **options),
            "responses": langchain_openai.ChatOpenAI(
                base_url=self.url + "/v1", use_responses_api=True, reasoning={"effort": effort},
                **options),
            "messages": langchain_anthropic.ChatAnthropic(base_url=self.url, max_tokens=4000,
                                                          **anthropic, **options)}

    async def stream_async(self, model, asked):
        return [chunk async for chunk in model.astream(asked)]

    def test_answers_and_streams(self):
        asked = [SystemMessage("Be brief."), HumanMessage("Hi")]
        for kind, model in self.models("hello").items():
            with self.subTest(kind=kind):
                answers = [model.invoke(asked), self.run_async(model.ainvoke(asked))]
                streams = [list(model.stream(asked)), self.run_async(self.stream_async(model, asked))]
                for chunks in streams:
                    self.assertGreater(len(chunks), 3)
                    whole = AIMessageChunk(content=[] if kind != "chat" else "")
                    for chunk in chunks:
                        whole += chunk
                    answers.append(whole)
                for answer in answers:
                    self.assertEqual(answer.text, "Hello, wörld!")
                    self.assertGreater(answer.usage_metadata["input_tokens"], 5)
                    self.assertEqual({answer.usage_metadata["output_tokens"]},
                                     {answers[0].usage_metadata["output_tokens"]})

    def test_reasoning(self):
        """LangChain drops what Chat has of it, and leaves that of Responses as it came."""
        thoughts = {}
        for kind, model in self.models("hello").items():
            first = model.invoke("Hi").content[0]
            if kind != "chat":
                thoughts[kind] = first.get("thinking") or first["content"][0]["text"]
        self.assertEqual(thoughts, {"responses": "Greet.", "messages": "Greet."})

    def test_batches(self):
        for kind, model in self.models("hello").items():
            with self.subTest(kind=kind):
                answers = model.batch(["a", "b", "c"], config={"max_concurrency": 3})
                self.assertEqual([answer.text for answer in answers], ["Hello, wörld!"] * 3)

    def test_structured_answers(self):
        for kind, model in self.models("json").items():
            with self.subTest(kind=kind, method="json_schema"):
                model = model.with_structured_output(Tide, method="json_schema")
                self.assertEqual(model.invoke("The tide?"), Tide(city="Bergen", metres=1.5))
                self.assertEqual(self.run_async(model.ainvoke("The tide?")),
                                 Tide(city="Bergen", metres=1.5))
        for kind, model in self.models("forced", thinking=False).items():
            with self.subTest(kind=kind, method="function_calling"):
                model = model.with_structured_output(Tide, method="function_calling")
                self.assertEqual(model.invoke("The tide?"), Tide(city="Bergen", metres=1.5))

    def test_a_stream_that_is_left(self):
        for kind, model in self.models("long").items():
            with self.subTest(kind=kind):
                stream = model.stream("Hi")
                next(stream)
                stream.close()
                self.assert_nothing_is_held(1)

                async def leave():
                    stream = model.astream("Hi")
                    await anext(stream)
                    await stream.aclose()
                    gc.collect()  # LangChain leaves its client's stream to the collector
                    await asyncio.sleep(0.05)
                self.run_async(leave())
                self.assert_nothing_is_held(1)

    def test_errors(self):
        for kind, model in self.models("missing").items():
            library = anthropic if kind == "messages" else openai
            with self.subTest(kind=kind):
                with self.assertRaises(library.NotFoundError):
                    model.invoke("Hi")
                with self.assertRaises(library.NotFoundError):
                    list(model.stream("Hi"))
                with self.assertRaises(library.BadRequestError):
                    model.bind(temperature=9).invoke("Hi")

    def tool(self):
        """A real tool of the client: the model's next turn is played after the last call of one."""
        pending = {"Bergen", "Oslo"}

        @tool
        def tide(city: str) -> str:
            """The tide of a city."""
            pending.discard(city)
            if not pending:
                self.turns.advance()
            return TIDES[city]
        return tide

    def test_bound_tools(self):
        for kind, model in self.models("loop").items():
            for way in ("invoke", "ainvoke", "stream", "astream"):
                with self.subTest(kind=kind, way=way):
                    self.bound_tools(model.bind_tools([self.tool()]), way)

    def bound_tools(self, model, way):
        messages = [HumanMessage("Which city has the higher tide?")]
        for turn in range(3):
            self.turns.play(turn)
            answer = self.ask_in(way, model, messages)
            messages.append(answer)
            for call in answer.tool_calls:
                messages.append(ToolMessage(TIDES[call["args"]["city"]], tool_call_id=call["id"]))
        self.assertEqual(answer.text, "Brest, with 7 m.")
        self.assertEqual([call["args"]["city"] for message in messages
                          for call in getattr(message, "tool_calls", ())], list(TIDES))

    def ask_in(self, way, model, messages):
        if way == "invoke":
            return model.invoke(messages)
        if way == "ainvoke":
            return self.run_async(model.ainvoke(messages))
        chunks = (list(model.stream(messages)) if way == "stream"
                  else self.run_async(self.stream_async(model, messages)))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        return whole

    def test_agents(self):
        asked = {"messages": [HumanMessage("Which city has the higher tide?")]}
        for kind, model in self.models("loop").items():
            with self.subTest(kind=kind):
                self.turns.play(0)
                state = create_agent(model, [self.tool()]).invoke(asked)
                self.assert_agent(state["messages"])
                self.turns.play(0)
                state = self.run_async(create_agent(model, [self.tool()]).ainvoke(asked))
                self.assert_agent(state["messages"])

    def test_a_streamed_agent(self):
        asked = {"messages": [HumanMessage("Which city has the higher tide?")]}
        for kind, model in self.models("loop").items():
            with self.subTest(kind=kind):
                self.turns.play(0)
                agent, last, tokens = create_agent(model, [self.tool()]), None, []
                for mode, update in agent.stream(asked, stream_mode=["messages", "values"]):
                    if mode == "values":
                        last = update["messages"]
                    elif isinstance(update[0], AIMessageChunk):
                        tokens.append(update[0].text)
                self.assert_agent(last)
                self.assertIn("Brest, with 7 m.", "".join(tokens))

    def assert_agent(self, messages):
        self.assertEqual(messages[-1].text, "Brest, with 7 m.")
        self.assertEqual([message.content for message in messages if message.type == "tool"],
                         list(TIDES.values()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
