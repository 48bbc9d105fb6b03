"""Checks the tree against the rules of the house; run by ctest.

  python3 tests/tidy/tidy.py [ROOT]

The rules are in rules_*.py, each with its reasons; selftest.py plants a violation of each.
"""

import pathlib
import sys

sys.dont_write_bytecode = True

import rules_arrows  # noqa: E402
import rules_cores  # noqa: E402
import rules_text  # noqa: E402
from source import read_tree  # noqa: E402


def check_tree(sources):
    violations = []
    for source in sources:
        violations += rules_text.check(source)
        violations += rules_cores.check(source)
    violations += rules_arrows.check(sources)
    return sorted(violations, key=lambda v: (v.path, v.line))


def main():
    here = pathlib.Path(__file__).resolve()
    root = sys.argv[1] if len(sys.argv) > 1 else here.parent.parent.parent
    sources = read_tree(root)
    if not sources:
        sys.exit(f"tidy: no files in {root}")
    violations = check_tree(sources)
    for violation in violations:
        print(violation)
    print(f"tidy: {len(sources)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
