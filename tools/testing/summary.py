"""Counts tests: reads the results that tools/test left in a folder.

For each step there is STEP.xml (ctest's JUnit file) and STEP/ with one GoogleTest file a program.
A GoogleTest program counts as its cases, any other test as one. A program that failed without a
failed case (a crash, a time-out) counts as one failure, and so does a step whose ctest failed
(STEP.failed) without naming a test. Prints the failures, then one line "PASSED FAILED SKIPPED" for
the shell.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def cases_of_program(path):
    """(passed, failures, skipped) of one GoogleTest file; failures are names."""
    passed, failures, skipped = 0, [], 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None:
            failures.append(f"{case.get('classname')}.{case.get('name')}")
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            skipped += 1
        elif case.get("status") != "notrun":
            passed += 1
    return passed, failures, skipped


def cases_of_step(junit):
    """(passed, failures, skipped) of one ctest run."""
    passed, failures, skipped = 0, [], 0
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        name, status = test.get("name"), test.get("status")
        program = junit.with_suffix("") / f"{name}.xml"
        counted = (0, [], 0)
        if program.exists():
            counted = cases_of_program(program)
            passed += counted[0]
            failures += [f"{name}: {case}" for case in counted[1]]
            skipped += counted[2]
        if status == "fail" and not counted[1]:
            failures.append(f"{name}: the program failed, crashed or took too long")
        elif status not in ("run", "fail"):
            skipped += 1
        elif status == "run" and not program.exists():
            passed += 1
    return passed, failures, skipped


def main(folder):
    totals = [0, 0, 0]
    steps = {path.with_suffix(".xml") for path in pathlib.Path(folder).glob("*.failed")}
    for junit in sorted(steps.union(pathlib.Path(folder).glob("*.xml"))):
        passed, failures, skipped = cases_of_step(junit) if junit.exists() else (0, [], 0)
        if junit in steps and not failures:
            failures.append("ctest failed and named no test (its log says why)")
        for failure in failures:
            print(f"FAILED {junit.stem}: {failure}", file=sys.stderr)
        totals = [totals[0] + passed, totals[1] + len(failures), totals[2] + skipped]
    print(*totals)


if __name__ == "__main__":
    main(sys.argv[1])
