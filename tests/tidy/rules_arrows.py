"""Arrows between folders point one way (docs/map.md), in #includes and in CMake's DEPS.

A folder may use folders of a lower layer and itself; folders of one layer do not know each other.
"""

import re

from source import Violation

# Lower layers first. tests may use everything.
# Two steps beyond DESIGN section 1: a model file fills the recipe's vocabulary, so that recipe lies
# below model; metrics and logs are sinks of actors' notes, so that observe lies above actor.
LAYERS = (
    ("runtime/base",),
    ("runtime/device", "runtime/cost"),
    ("kernels", "runtime/actor"),
    ("runtime/recipe", "runtime/http", "runtime/grammar", "runtime/kv", "runtime/observe",
     "runtime/store", "runtime/transport", "runtime/cluster", "runtime/simulation"),
    ("runtime/model",),
    ("actors",),
    ("tools",),
)
LAYER_OF = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}
CAF_FOLDERS = ("runtime/actor", "runtime/cluster", "tools", "tests")


def folder_of(path):
    """The folder of LAYERS that a path lies in, None if in none."""
    parts = path.split("/")
    for folder in ("/".join(parts[:2]), parts[0]):
        if folder in LAYER_OF:
            return folder
    return None


def is_allowed(user, used):
    return user == used or LAYER_OF[user] > LAYER_OF[used]


def check(sources):
    targets = dict(targets_of(sources))
    for source in sources:
        if source.is_code:
            yield from check_includes(source)
        elif source.name == "CMakeLists.txt":
            yield from check_targets(source, targets)


def check_includes(source):
    user = folder_of(source.path)
    for number, header in source.includes():
        used = folder_of(header)
        if user and used and not is_allowed(user, used):
            yield Violation(source.path, number, f"{user} may not include {used}")
        if header.startswith("caf/") and not source.path.startswith(CAF_FOLDERS):
            yield Violation(source.path, number, "only " + ", ".join(CAF_FOLDERS[:3]) +
                            " may include CAF")
        if header.startswith("tests/") and not source.path.startswith("tests/"):
            yield Violation(source.path, number, "the product may not include tests")


LIBRARY = re.compile(r"troupe_library\(\s*(\w+)([^)]*)\)")


def libraries_of(source):
    """(line number, name, dependencies) of each troupe_library of a CMakeLists.txt."""
    text = "\n".join(line.split("#")[0] for line in source.lines)
    for found in LIBRARY.finditer(text):
        words = found.group(2).split()
        deps = words[words.index("DEPS") + 1:] if "DEPS" in words else []
        yield text[:found.start()].count("\n") + 1, found.group(1), deps


def targets_of(sources):
    """(name, folder) of each library."""
    for source in sources:
        if source.name == "CMakeLists.txt":
            for _, name, _ in libraries_of(source):
                yield name, folder_of(source.path)


def check_targets(source, targets):
    user = folder_of(source.path)
    for number, name, deps in libraries_of(source):
        for dep in deps:
            used = targets.get(dep)
            if user and used and not is_allowed(user, used):
                yield Violation(source.path, number, f"{name} ({user}) may not use {dep} ({used})")
