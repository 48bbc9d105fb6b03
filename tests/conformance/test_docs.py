"""docs/clients.md says how to reach a node; what it says is run."""

import contextlib
import io
import os
import re
import subprocess
import tomllib
import unittest

from harness import TIMEOUT, ConformanceTest
from node import SOURCE

BASE = "http://127.0.0.1:8000"


class DocsTest(ConformanceTest):
    flags = []

    @classmethod
    def add_scripts(cls, scripts):
        scripts.text("hello", "", delay_ms=2, pieces=["Hello", " from a", " script."])
        with open(os.path.join(SOURCE, "docs", "clients.md")) as file:
            cls.page = file.read()

    def blocks(self, language):
        found = re.findall(rf"^```{language}\n(.*?)^```", self.page, re.MULTILINE | re.DOTALL)
        return [block.replace(BASE, self.url) for block in found]

    def test_python(self):
        blocks = self.blocks("python")
        self.assertEqual(len(blocks), 3)
        for block in blocks:
            with self.subTest(block=block), contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(block, "docs/clients.md", "exec"), {})
            wanted = {"openai": 2, "anthropic": 1}.get(block.split()[1], 3)
            self.assertEqual(said.getvalue().count("Hello from a script."), wanted, said.getvalue())

    def test_codex(self):
        config = tomllib.loads(self.blocks("toml")[0])
        provider = config["model_providers"][config["model_provider"]]
        self.assertEqual(provider["wire_api"], "responses")
        self.assert_path(provider["base_url"] + "/responses")

    def test_the_coding_cli(self):
        base = re.search(r"^export ANTHROPIC_BASE_URL=(\S+)", self.page, re.MULTILINE)[1]
        base = base.replace(BASE, self.url)
        for path in ("/v1/messages", "/v1/messages/count_tokens"):
            self.assert_path(base + path)

    def assert_path(self, url):
        self.assertTrue(url.startswith(self.url), url)
        run = subprocess.run(["curl", "-sS", "-o", os.devnull, "-w", "%{http_code}", "-X", "OPTIONS", url],
                             capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual(run.stdout, "204", url)


del ConformanceTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
