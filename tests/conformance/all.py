"""All conformance tests in one process: importing the clients costs more than most tests.

A file alone: `tests/live/run ../conformance/test_cancel.py [TEST]`.
"""

import os
import unittest

import anthropic
import langchain_anthropic
import langchain_openai
import openai

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    print(", ".join(f"{client.__name__} {getattr(client, '__version__', '')}".strip() for client in (
        openai, anthropic, langchain_openai, langchain_anthropic)))
    unittest.main(module=None, argv=["all.py", "discover", "-v", "-s", here, "-t", here])
