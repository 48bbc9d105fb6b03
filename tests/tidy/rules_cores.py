"""Cores decide without the world; hosts act without deciding (DESIGN section 2).

A core is any code file in actors/ that is not a host (its name holds "host"), and any file named
core.* or *_core.* in runtime/. It may not reach a clock, a thread, a socket, the environment,
chance, CAF or manual memory, and may not iterate in an order that differs between runs.

A host may not look into a message: no condition (if, while, switch) in it mentions `message.` or
`message->`, except `message.as<T>()`, which finds the handler of a message. That is what a checker
can see of "a host has no `if` about the domain"; review sees the rest. Its functions have at most
60 lines.
"""

import re

from source import Violation

BANNED_HEADERS = re.compile(
    r"caf/|boost/|sys/|unistd\.h|pthread|netinet/|poll\.h|"
    r"(chrono|thread|mutex|shared_mutex|condition_variable|future|atomic|random|unordered_map|"
    r"unordered_set|ctime|time\.h|fstream|filesystem)$")
BANNED_CODE = (
    (re.compile(r"\b(std::chrono|monotonic_now)\b"), "a clock"),
    (re.compile(r"\b(s?rand|random|drand48|arc4random)\s*\("), "unseeded chance"),
    (re.compile(r"\bstd::(random_device|mt19937(_64)?|shuffle)\b"), "unseeded chance"),
    (re.compile(r"\b(u?sleep|nanosleep|sleep_for|sleep_until)\s*\("), "a wait"),
    (re.compile(r"\bgetenv\s*\("), "the environment"),
    (re.compile(r"(?<![\w.>:])(socket|connect|recv|send|accept|clock_gettime|time)\s*\("),
     "a system call"),
    (re.compile(r"\bunordered_(map|set|multimap|multiset)\b"), "an order that differs between runs"),
    (re.compile(r"\bstd::(thread|jthread|mutex|atomic|async)\b"), "a thread"),
    (re.compile(r"(?<![\w:])new\s+[\w:(]"), "manual memory"),
    (re.compile(r"\bstatic\s+(?!const|constexpr|_assert|inline)[\w:<>]+\s+\w+_?\s*(=|;|\{)"),
     "state outside of the core"),
)
LONGEST_HOST_FUNCTION = 60
LOOKS_INTO_MESSAGE = re.compile(
    r"\b(if|while|switch)\s*(constexpr\s*)?\(.*\bmessage(\.(?!as<)|->)")


def is_host(source):
    return source.is_code and source.path.startswith("actors/") and "host" in source.name


def is_core(source):
    if not source.is_code or is_host(source):
        return False
    named = re.search(r"(^|_)core\.[ch]pp$", source.name) is not None
    return source.path.startswith("actors/") or (source.path.startswith("runtime/") and named)


def check(source):
    if is_core(source):
        yield from check_core(source)
    elif is_host(source):
        yield from check_host(source)


def check_core(source):
    for number, header in source.includes():
        if BANNED_HEADERS.match(header):
            yield Violation(source.path, number, f"a core may not include {header}")
    for number, line in enumerate(source.code, 1):
        for pattern, what in BANNED_CODE:
            if pattern.search(line):
                yield Violation(source.path, number, f"a core may not use {what}: "
                                f"{pattern.search(line).group().strip()}")


def check_host(source):
    start = 0
    for number, line in enumerate(source.code, 1):
        if LOOKS_INTO_MESSAGE.search(line):
            yield Violation(source.path, number, "a host may not decide by what a message says: "
                            "move this into the core")
        if re.match(r"\S.*\)[^;=()]*\{\s*$", line):
            start = number
        if line.startswith("}") and start and number - start >= LONGEST_HOST_FUNCTION:
            yield Violation(source.path, start, "a host function is at most "
                            f"{LONGEST_HOST_FUNCTION} lines")
