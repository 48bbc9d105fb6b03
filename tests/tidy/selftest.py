"""Plants a violation of each rule and demands exactly it; and clean code that must pass."""

import sys
import unittest

sys.dont_write_bytecode = True

from source import Source, blank_out  # noqa: E402
from tidy import check_tree  # noqa: E402

HEADER = "// A header.\n#pragma once\n"


def found(*files):
    return [str(violation) for violation in check_tree([Source(*file) for file in files])]


def core(code):
    return found(("actors/x/x_core.cpp", code))


class TextRules(unittest.TestCase):
    def expect(self, path, text, part):
        messages = found((path, text))
        self.assertEqual(len(messages), 1, messages)
        self.assertIn(part, messages[0])

    def test_lengths(self):
        self.expect("runtime/base/a.cpp", "\n" * 501, "501 lines")
        self.expect("runtime/base/a.cpp", "// " + "x" * 98, "101 columns")
        self.assertEqual(found(("runtime/base/a.cpp", "// " + "x" * 97)), [])

    def test_functions(self):
        long = "int f(int a) {\n" + "  a++;\n" * 79 + "}\n"
        self.expect("runtime/base/a.cpp", long, "a function of 81 lines")
        member = "struct A {\n  int f() const {\n" + "    a++;\n" * 79 + "  }\n};\n"
        self.expect("runtime/base/a.cpp", member, "a.cpp:2: a function of 81 lines")
        table = "constexpr int kTable[] = {\n" + "  1,\n" * 100 + "};\n"
        self.assertEqual(found(("runtime/base/a.cpp", table)), [])

    def test_words(self):
        self.expect("tools/x", "# TO" + "DO: later", "unfinished work")
        self.expect("docs/x.md", "from py" + "pi.org", "registry")
        self.expect("tools/x", "cd /ho" + "me/me", "one machine")
        self.assertEqual(found(("tools/x", "cd build/work/x")), [])

    def test_headers(self):
        self.expect("runtime/base/a.hpp", "#pragma once\n", "starts with a comment")
        self.expect("runtime/base/a.hpp", "// What.\n", "#pragma once")


class ArrowRules(unittest.TestCase):
    def test_includes(self):
        up = found(("runtime/base/a.cpp", '#include "runtime/actor/ref.hpp"\n'))
        self.assertEqual(up, ["runtime/base/a.cpp:1: runtime/base may not include runtime/actor"])
        self.assertTrue(found(("runtime/http/a.cpp", '#include "runtime/kv/b.hpp"\n')))
        self.assertTrue(found(("runtime/device/a.cpp", '#include "kernels/cpu/b.hpp"\n')))
        self.assertTrue(found(("tools/a.cpp", '#include "tests/b.hpp"\n')))
        for path, header in (("runtime/model/a.cpp", "kernels/cpu/b.hpp"),
                             ("actors/x/a.cpp", "actors/y/b.hpp"),
                             ("tools/a.cpp", "actors/y/b.hpp"),
                             ("tests/a.cpp", "tools/b.hpp")):
            self.assertEqual(found((path, f'#include "{header}"\n')), [])

    def test_caf(self):
        self.assertTrue(found(("runtime/http/a.cpp", "#include <caf/all.hpp>\n")))
        self.assertEqual(found(("runtime/actor/a.cpp", "#include <caf/all.hpp>\n")), [])

    def test_targets(self):
        base = ("runtime/base/CMakeLists.txt", "troupe_library(troupe_base DEPS troupe_http)\n")
        http = ("runtime/http/CMakeLists.txt", "troupe_library(troupe_http\n  DEPS troupe_base)\n")
        messages = found(base, http)
        self.assertEqual(len(messages), 1)
        self.assertIn("troupe_base (runtime/base) may not use troupe_http", messages[0])


class CoreRules(unittest.TestCase):
    def test_headers(self):
        for header in ("caf/actor.hpp", "chrono", "thread", "mutex", "random", "unordered_map",
                       "unordered_set", "sys/socket.h"):
            self.assertTrue(core(f"#include <{header}>\n"), header)

    def test_code(self):
        for code in ("auto t = std::chrono::steady_clock::now();",
                     "Time t = monotonic_now();", "int x = rand();", "sleep(1);",
                     "auto h = getenv(name);", "int s = socket(a, b, 0);", "auto* p = new Thing();",
                     "std::unordered_map<int, int> m;", "std::thread t;", "  static int count = 0;"):
            self.assertTrue(core(code), code)

    def test_code_that_only_looks_like_it(self):
        for code in ("// a new thing, rand() and time()", 'say("sleep(1)");', "newer = operand(3);",
                     "out.send(to, message);", "std::map<int, int> m;", "static constexpr int k = 3;",
                     "time_ = now;"):
            self.assertEqual(core(code), [], code)

    def test_where(self):
        code = "int x = rand();\n"
        self.assertTrue(found(("actors/x/schedule.cpp", code)))
        self.assertTrue(found(("runtime/cluster/membership_core.cpp", code)))
        self.assertEqual(found(("runtime/cluster/socket.cpp", code)), [])
        self.assertEqual(found(("actors/x/x_host.cpp", "std::thread t;\n")), [])

    def test_hosts(self):
        self.assertTrue(found(("actors/x/x_host.cpp", "if (message.tokens > 3) {\n}\n")))
        self.assertTrue(found(("actors/x/host.cpp", "switch (message->kind) {\n}\n")))
        self.assertEqual(found(("actors/x/x_host.cpp", "if (!running_) return;\n")), [])
        by_type = "if (const auto* end = message.as<End>()) {\n}\n"
        self.assertEqual(found(("actors/x/x_host.cpp", by_type)), [])
        long = "void f() {\n" + "  g();\n" * 60 + "}\n"
        self.assertTrue(found(("actors/x/x_host.cpp", long)))


class Blanking(unittest.TestCase):
    def test_lines_stay(self):
        text = 'a /* b\nc */ d\nR"x(\n)x" e // f\n\'"\' g "\\"h" i'
        blank = blank_out(text)
        self.assertEqual(blank.count("\n"), text.count("\n"))
        self.assertEqual("".join(blank.split()), "adegi")

    def test_digit_separators_are_no_literals(self):
        self.assertEqual(blank_out("x = 1'000'000 + f();"), "x = 1'000'000 + f();")


if __name__ == "__main__":
    unittest.main()
