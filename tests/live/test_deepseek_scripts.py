"""Scripts with the prompts and tokens of DeepSeek V4: reasoning and tool calls as clients see them."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts

try:
    import anthropic
    import openai
except ImportError:
    openai = None

CALL = ('\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="tide">\n'
        '<｜DSML｜parameter name="city" string="true">Bergen "now"</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n'
        '</｜DSML｜invoke>\n</｜DSML｜tool_calls>')
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "number"}}}
ARGUMENTS = {"city": 'Bergen "now"', "days": 3}
QUESTION = [{"role": "user", "content": "What is the tide?"}]


@unittest.skipIf(openai is None, "the official clients are not installed (tools/venv live)")
class DeepseekScriptsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.add("think", [{"text": "The moon pulls.</think>High"}, {"text": " at noon."}],
                        control=True)
        cls.scripts.add("call", [{"text": "I must look.</think>Let me see."}, {"text": CALL}],
                        control=True)
        cls.scripts.add("typed", [{"text": "x</think>"}, {"text": CALL}])
        cls.node = Node(cls.scripts.arguments() + ["--script-recipe", "deepseek-v4"]).wait_ready()
        url = f"http://127.0.0.1:{cls.node.port}"
        cls.openai = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=20)
        cls.anthropic = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=20)

    @classmethod
    def tearDownClass(cls):
        cls.openai.close()
        cls.anthropic.close()
        assert cls.node.stop() == 0
        cls.scripts.close()

    def chat(self, name, **fields):
        tools = [{"type": "function", "function": {"name": "tide", "parameters": SCHEMA}}]
        return self.openai.chat.completions.create(
            model="script/" + name, messages=QUESTION, tools=tools, **fields)

    def test_reasoning_and_answer_are_apart(self):
        choice = self.chat("think").choices[0]
        self.assertEqual((choice.message.reasoning_content, choice.message.content),
                         ("The moon pulls.", "High at noon."))
        reasoning = content = ""
        for chunk in self.chat("think", stream=True):
            for part in chunk.choices:
                reasoning += getattr(part.delta, "reasoning_content", None) or ""
                content += part.delta.content or ""
        self.assertEqual((reasoning, content), ("The moon pulls.", "High at noon."))

    def test_a_chat_calls_a_tool(self):
        choice = self.chat("call").choices[0]
        self.assertEqual((choice.finish_reason, choice.message.content), ("tool_calls", "Let me see."))
        call, = choice.message.tool_calls
        self.assertEqual((call.function.name, json.loads(call.function.arguments)),
                         ("tide", ARGUMENTS))
        name, arguments, last = "", "", None
        for chunk in self.chat("call", stream=True):
            for part in chunk.choices:
                for piece in part.delta.tool_calls or ():
                    name += piece.function.name or ""
                    arguments += piece.function.arguments or ""
                last = part.finish_reason or last
        self.assertEqual((name, json.loads(arguments), last), ("tide", ARGUMENTS, "tool_calls"))

    def test_a_message_uses_a_tool(self):
        tools = [{"name": "tide", "input_schema": SCHEMA}]
        answer = self.anthropic.messages.create(
            model="script/call", max_tokens=500, messages=QUESTION, tools=tools)
        thought, text, use = answer.content
        self.assertEqual((thought.thinking, text.text), ("I must look.", "Let me see."))
        self.assertEqual((use.name, use.input, answer.stop_reason), ("tide", ARGUMENTS, "tool_use"))
        with self.anthropic.messages.stream(model="script/call", max_tokens=500, messages=QUESTION,
                                            tools=tools) as stream:
            final = stream.get_final_message()
        self.assertEqual([block.type for block in final.content], ["thinking", "text", "tool_use"])
        self.assertEqual(final.content[2].input, ARGUMENTS)

    def test_a_response_calls_a_function(self):
        answer = self.openai.responses.create(
            model="script/call", input="What is the tide?",
            tools=[{"type": "function", "name": "tide", "parameters": SCHEMA, "strict": False}])
        kinds = [item.type for item in answer.output]
        self.assertEqual(kinds, ["reasoning", "message", "function_call"])
        self.assertEqual(json.loads(answer.output[2].arguments), ARGUMENTS)

    def test_markup_that_is_only_text_calls_nothing(self):
        choice = self.chat("typed").choices[0]
        self.assertEqual((choice.finish_reason, choice.message.tool_calls), ("stop", None))
        self.assertIn("invoke", choice.message.reasoning_content)



class CompatTest(unittest.TestCase):
    """The settings of the recipe reach the requests of a node."""

    def answer(self, arguments, **fields):
        scripts = Scripts()
        self.addCleanup(scripts.close)
        scripts.add("think", [{"text": "Hm.</think>High."}], control=True)
        node = Node(scripts.arguments() + ["--script-recipe", "deepseek-v4", *arguments])
        self.addCleanup(node.stop)
        node.wait_ready()
        body = {"model": "script/think", "messages": QUESTION, **fields}
        status, _, text = node.post("/v1/chat/completions", body)
        return status, json.loads(text)

    def test_compat(self):
        for arguments, status in (([], 404), (["--compat", "deepseek"], 400)):
            self.assertEqual(self.answer(arguments, model="nobody")[0], status)
        usage = self.answer(["--compat", "deepseek"])[1]["usage"]
        self.assertIn("prompt_cache_miss_tokens", usage)
        self.assertNotIn("prompt_cache_miss_tokens", self.answer([])[1]["usage"])

    def test_the_reference_keeps_no_responses(self):
        scripts = Scripts()
        self.addCleanup(scripts.close)
        scripts.add("think", [{"text": "Hm.</think>High."}], control=True)
        node = Node(scripts.arguments() + ["--script-recipe", "deepseek-v4", "--compat", "deepseek"])
        self.addCleanup(node.stop)
        node.wait_ready()
        status, _, text = node.post("/v1/responses",
                                    {"model": "script/think", "input": "hi", "store": False})
        self.assertEqual(status, 200, text)
        body = json.loads(text)
        self.assertFalse(body["store"])
        self.assertEqual(node.get("/v1/responses/" + body["id"])[0], 404)

    def test_default_thinking(self):
        text = self.answer(["--no-default-thinking"])[1]["choices"][0]["message"]
        self.assertIsNone(text.get("reasoning_content"))

    def test_more_tokens_than_there_is_room(self):
        many = {"max_tokens": 390000}
        self.assertEqual(self.answer([], **many)[0], 200)
        status, body = self.answer(["--max-tokens-over-room", "reject"], **many)
        self.assertEqual((status, body["error"]["code"]), (400, "context_length_exceeded"))
        self.assertIn("390000", body["error"]["message"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
