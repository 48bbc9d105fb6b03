#!/usr/bin/env python3
"""Runs the commands of docs/what-if.md and compares what comes out with what the page says.

The page is the only place with commands and figures: each section "### ID Title" has commands in a
block, and a table whose last column is compared. FIGURES says how a row's figure is read from the
commands' JSON. Runs are deterministic: a figure that differs by more than its last written digit
(or 1 %) means that page or simulator changed. --write puts what comes out into the page.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("TROUPE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
PAGE = ROOT / "docs/what-if.md"
PROGRAM = os.environ.get("TROUPE_PROGRAM", str(ROOT / "build/release/bin/troupe"))
# Sections of a second or less each; the others need --all.
QUICK = ("W3", "W4", "W6", "W8", "W14", "Seed001")
DEADLINE_S = 900
SECONDS_A_DAY = 86_400
DATA_SHARE = 10 / 12  # of erasure-coded bytes: EC 10+2


def rows_of(sweep, key):
    """Rows of a sweep by their value of one key, of several by the first one."""
    return {next(v for k, v in row["set"].items() if k.startswith(key)).split(":")[0]: row
            for row in sweep}


def sustained(plan):
    return plan["simulated"]["trials"][0]["sustained_requests_per_s"]


def best_split(runs):
    rows = rows_of(runs[0], "prefill.engines")
    return 4 * int(max(rows, key=lambda engines: rows[engines]["sustained_requests_per_s"]))


def ratio(runs, share):
    prefill = 16 / rows_of(runs[0], "workload.cached_share")[share]["sustained_requests_per_s"]
    return prefill / (64 / runs[1][0]["sustained_requests_per_s"])


def user_speed(runs, rows):
    return rows_of(runs[0], "decode.rows_most")[rows]["user_tokens_per_s"]


def draft_gain(runs, rows):
    by_rule = {rule: rows_of([row for row in runs[0] if row["set"]["decode.drafts"] == rule],
                             "decode.rows_most")[rows]["user_tokens_per_s"]
               for rule in ("fixed", "confidence")}
    return 100 * (by_rule["confidence"] / by_rule["fixed"] - 1)


def decode_rate(runs, ranks):
    row = rows_of(runs[0], "decode.ranks")[ranks]
    return row["sustained_requests_per_s"] * 800 / int(ranks)


def bytes_a_second(runs, kind):
    """Of storage, as if the run were nothing but its load at 23,059 requests/s."""
    facts = runs[0]["simulation"]
    rate = {"read": 10_240 * 2**30, "write": 850 * 2**30}[kind]
    requests = runs[0]["ok"] / runs[0]["duration_s"]
    return facts[f"storage_{kind}_use"] * rate / requests * 23_059


def kept_pib(runs, days):
    return bytes_a_second(runs, "write") * SECONDS_A_DAY * days / DATA_SHARE / 2**50


def over_seeds(runs, figure, policy):
    values = [row[figure] for row in runs[0] if row["set"]["decode.policy"] == policy]
    return sum(values) / len(values)


def over(runs, key, figure, one, other):
    rows = rows_of(runs[0], key)
    return rows[one][figure] / rows[other][figure]


def lost_hits(runs):
    rows = rows_of(runs[0], "constants.store_life_s")
    return 100 * (rows["604800"]["hit_share"] - rows["259200"]["hit_share"])


def seed_001(runs, instances, figure):
    return rows_of(runs[0], "decode.instances")[instances][figure]


FIGURES = {
    "W1": (lambda r: sustained(r[0]), lambda r: sustained(r[1])),
    "W2": (best_split,),
    "W3": (lambda r: sustained(r[0]), lambda r: sustained(r[1]), lambda r: sustained(r[2])),
    "W4": tuple(lambda r, share=share: ratio(r, share) for share in ("0.96", "0.9", "0.5", "0")),
    "W5": (lambda r: r[0]["ttft_ms"]["mean"], lambda r: r[1]["ttft_ms"]["mean"]),
    "W6": tuple(lambda r, rows=rows: user_speed(r, rows) for rows in ("36", "64", "96")),
    "W7": tuple(lambda r, rows=rows: draft_gain(r, rows) for rows in ("16", "60", "72", "96")),
    "W8": (lambda r: decode_rate(r, "64"), lambda r: decode_rate(r, "8")),
    "W12": (lambda r: bytes_a_second(r, "read") / 2**40,
            lambda r: bytes_a_second(r, "write") / 2**30, lambda r: kept_pib(r, 3), lambda r: kept_pib(r, 7),
            lambda r: r[0]["simulation"]["sustained_requests_per_s"]),
    "W14": (lambda r: over(r, "prefill.policy", "ttft_p99_short_ms", "buckets", "least-work"),),
    "W15": (lambda r: over_seeds(r, "requests_per_s", "balanced") /
                      over_seeds(r, "requests_per_s", "rows"),),
    "TTL": (lost_hits,),
    "Seed001": (lambda r: seed_001(r, "4", "sustained_requests_per_s"),
                lambda r: seed_001(r, "4", "prefill_utilisation"),
                lambda r: seed_001(r, "32", "sustained_requests_per_s")),
}


def sections(text):
    """(ID, body) of each section with commands."""
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        yield part.split()[0], re.split(r"^## ", part, flags=re.MULTILINE)[0]


def run(command):
    words = [PROGRAM if word == "$P" else word for word in shlex.split(command)] + ["--json"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=DEADLINE_S,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr[:500]}")
    return json.loads(done.stdout)


def rows_in(body):
    """The table's rows as lists of cells, without its head."""
    lines = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def written(value, expected):
    """As many digits as the expected figure has, one more at least below ten."""
    decimals = len(expected.split(".")[1]) if "." in expected else 0
    return f"{value:.{max(decimals, 2 if abs(value) < 3 else 1 if abs(value) < 100 else 0)}f}"


def check(name, body, write):
    """What differs, and the section's body with the figures of now."""
    problems = []
    commands = [line for line in body.splitlines() if line.startswith("$P ")]
    runs = [run(command) for command in commands]
    rows = rows_in(body)
    if len(rows) != len(FIGURES[name]):
        return [f"{name}: {len(rows)} rows, but {len(FIGURES[name])} figures"], body
    for (title, expected, documented), figure in zip(rows, FIGURES[name]):
        found = figure(runs)
        last_digit = 10 ** -len(documented.split(".")[1]) if "." in documented else 1
        differs = abs(found - float(documented)) > max(last_digit, abs(found) / 100)
        print(f"{name:8} {title:52} expected {expected:>7}  page {documented:>7}  now {found:.5g}")
        if differs and not write:
            problems.append(f"{name}: {title}: the page says {documented}, it is {found:.5g}")
        body = body.replace(f"| {title} | {expected} | {documented} |",
                            f"| {title} | {expected} | {written(found, expected)} |")
    return problems, body


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="not only the cheapest sections")
    parser.add_argument("--only", action="append", help="this section; may be repeated")
    parser.add_argument("--write", action="store_true", help="put the figures into the page")
    options = parser.parse_args()
    text = PAGE.read_text()
    found = dict(sections(text))
    if missing := set(FIGURES) ^ set(found):
        sys.exit(f"sections of the page and of this script differ: {sorted(missing)}")
    wanted = options.only or (list(FIGURES) if options.all else QUICK)
    problems = []
    for name in wanted:
        wrong, body = check(name, found[name], options.write)
        problems += wrong
        text = text.replace(found[name], body)
    if options.write:
        PAGE.write_text(text)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
