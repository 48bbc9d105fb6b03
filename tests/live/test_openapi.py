"""A node against its own /openapi.json: every path has the methods that the document says, and
schemathesis finds no request, valid or not, whose answer the document does not allow.

schemathesis comes from an environment of its own (tools/venv openapi), which tools/test names in
TROUPE_OPENAPI_PYTHON. Its seed is fixed. TROUPE_LONG: more of everything.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from node import Node, Scripts

PYTHON = os.environ.get("TROUPE_OPENAPI_PYTHON")
LONG = "TROUPE_LONG" in os.environ
MODEL = "script/hello"
CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "negative_data_rejection",
    "unsupported_method", "allow_header_conformance", "use_after_free",
]

# What the others say too: methods that the test above asks on all paths, other names of a path, and
# bodies that another path reads.
SHORT = ["--exclude-method", "OPTIONS", "--exclude-method", "HEAD"]
for _path in ("/v1/tokenize", "/v1/detokenize", "/v1/chat/completions/render",
              "/v1/messages/count_tokens", "/liveness", "/ping", "/readiness", "/health/ready"):
    SHORT += ["--exclude-path", _path]


class OpenapiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scripts = Scripts()
        cls.scripts.text("hello", "Hello, world!")
        cls.node = Node(cls.scripts.arguments()).wait_ready()

    @classmethod
    def tearDownClass(cls):
        assert cls.node.stop() == 0
        cls.scripts.close()

    def document(self):
        status, text = self.node.get("/openapi.json")
        self.assertEqual(status, 200)
        return json.loads(text)

    def ask(self, method, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=10)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
            return response
        finally:
            connection.close()

    def test_the_version_is_the_nodes(self):
        version = json.loads(self.node.get("/version")[1])["version"]
        self.assertEqual(self.document()["info"]["version"], version)

    def test_every_path_takes_the_methods_of_the_document_and_no_others(self):
        for path, item in self.document()["paths"].items():
            path = path.replace("{model}", MODEL).replace("{response_id}", "resp_1")
            methods = {name.upper() for name in item if name != "parameters"}
            options = self.ask("OPTIONS", path)
            self.assertEqual(options.status, 204, path)
            self.assertEqual(set(options.headers["allow"].split(", ")), methods, path)
            for method in ("GET", "POST", "PUT", "DELETE"):
                refused = self.ask(method, path).status == 405
                self.assertEqual(refused, method not in methods, f"{method} {path}")

    def test_models_are_listed(self):
        models = json.loads(self.node.get("/v1/models")[1])["data"]
        self.assertEqual([model["id"] for model in models], [MODEL])

    def test_schemathesis_finds_nothing(self):
        if PYTHON is None:
            self.skipTest("schemathesis is not installed; tools/test installs it")
        document = self.document()
        # Else nearly every body names a model that is not there.
        document["components"]["schemas"]["Model"] = {"const": MODEL}
        # It leaves files of its own where it runs.
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "openapi.json"), "w", encoding="utf-8") as file:
                json.dump(document, file)
            command = [
                os.path.join(os.path.dirname(PYTHON), "schemathesis"), "run", "openapi.json",
                "--url", f"http://127.0.0.1:{self.node.port}", "--checks", ",".join(CHECKS),
                "--seed", "5", "--generation-deterministic",
                "--max-examples", "300" if LONG else "5", "--phases", "coverage,fuzzing,stateful",
                *([] if LONG else SHORT),
                "--workers", "2", "--request-timeout", "20", "--no-shrink", "--no-color",
                "--suppress-health-check", "all", "--warnings", "off",
            ]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                                  timeout=1500 if LONG else 240)
        print(done.stdout[-1500:])
        self.assertEqual(done.returncode, 0, done.stdout[-20000:] + done.stderr[-2000:])
        self.node.wait_idle()


if __name__ == "__main__":
    unittest.main(verbosity=2)
