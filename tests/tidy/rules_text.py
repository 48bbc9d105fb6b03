"""Rules about text: lengths, first lines, words that must not appear."""

import re

from source import Violation

LONGEST_FILE = 500
LONGEST_LINE = 100
LONGEST_FUNCTION = 80
# Split so that this file obeys its own rule.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
REGISTRIES = re.compile(r"(?i)\b(deb\.deb" + r"ian\.org|py" + r"pi\.org|pythonhos" + r"ted\.org|"
                        r"npm" + r"js\.(org|com)|crates" + r"\.io|hugging" + r"face\.co|"
                        r"proxy\.gol" + r"ang\.org)")
MACHINE_PATHS = re.compile(r"(?<![\w.~$}-])/(work|root|home)/\w")


def check(source):
    yield from check_lengths(source)
    yield from check_words(source)
    if source.suffix == ".hpp":
        yield from check_header(source)
    if source.is_code:
        yield from check_functions(source)


def check_lengths(source):
    if source.path.startswith("tests/data/") or source.suffix in (".md", ".json", ".txt"):
        return
    if len(source.lines) > LONGEST_FILE:
        yield Violation(source.path, LONGEST_FILE, f"{len(source.lines)} lines, at most "
                        f"{LONGEST_FILE}: split it by role")
    for number, line in enumerate(source.lines, 1):
        if source.is_code and len(line) > LONGEST_LINE:
            yield Violation(source.path, number, f"{len(line)} columns, at most {LONGEST_LINE}")


def check_words(source):
    for number, line in enumerate(source.lines, 1):
        if UNFINISHED.search(line):
            yield Violation(source.path, number, "unfinished work: do it or file an issue")
        if REGISTRIES.search(line):
            yield Violation(source.path, number, "names the host of a package registry")
        if MACHINE_PATHS.search(line):
            yield Violation(source.path, number, "names a path of one machine")


def check_header(source):
    if not source.lines or not source.lines[0].startswith("//"):
        yield Violation(source.path, 1, "a header starts with a comment: what it is and why")
    if "#pragma once" not in source.lines:
        yield Violation(source.path, 1, "a header needs #pragma once")


def check_functions(source):
    """By layout, as clang-format writes it: from a line like `...) {` to its `}` at that indent."""
    start = None
    for number, line in enumerate(source.code, 1):
        found = re.match(r"( {0,2})\S.*\)[^;=()]*\{\s*$", line)
        if found and start is None:
            start, indent = number, found.group(1)
        elif start is not None and re.match(indent + r"\}", line):
            length = number - start + 1
            if length > LONGEST_FUNCTION:
                yield Violation(source.path, start, f"a function of {length} lines, at most "
                                f"{LONGEST_FUNCTION}")
            start = None
