"""A figure: one measured number with its target, and what a bench area gets to work with."""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
from typing import Optional


@dataclasses.dataclass
class Figure:
    """`value` is None if it could not be measured; `why` then says what is missing.

    For X_vs_PEER the value is a gain: above 1 Troupe is that many times faster or smaller. `ours`
    and `peer` are the raw numbers in `unit`; low, median and high are those of the value over the
    rounds of the run.
    """

    name: str
    value: Optional[float]
    unit: str
    target: float
    at_most: bool = False  # the target is an upper bound
    ours: Optional[float] = None
    peer: Optional[float] = None
    low: Optional[float] = None
    median: Optional[float] = None
    high: Optional[float] = None
    why: str = ""

    @property
    def holds(self):
        if self.value is None:
            return False
        return self.value <= self.target if self.at_most else self.value >= self.target

    def as_json(self):
        fields = dataclasses.asdict(self)
        return {**{k: v for k, v in fields.items() if v is not None}, "value": self.value,
                "holds": self.holds}


def from_rounds(name, unit, target, ours, peers, **more):
    """A gain from values measured alternately: ours[i] and peers[i] belong to one round."""
    ratios = [our / peer for our, peer in zip(ours, peers)]
    return Figure(name, statistics.median(ratios), unit, target, ours=statistics.median(ours),
                  peer=statistics.median(peers), low=min(ratios), median=statistics.median(ratios),
                  high=max(ratios), **more)


def from_values(name, unit, target, values, **more):
    """A figure without a peer, from the values of the rounds."""
    middle = statistics.median(values)
    return Figure(name, middle, unit, target, ours=middle, low=min(values), median=middle,
                  high=max(values), **more)


class Missing(Exception):
    """Something that the bench needs is not there; the text says what and how to get it."""


class Bench:
    """What an area works with: folders, options, and running programs that print JSON."""

    def __init__(self, root, options):
        self.root = pathlib.Path(root)
        self.quick = options.quick
        self.install_peers = options.install_peers
        self.model = options.model

    def program(self, name):
        path = self.root / "build/release/bin" / name
        if not path.exists():
            raise Missing(f"no {path.relative_to(self.root)}: "
                          "cmake --preset release && cmake --build build/release")
        return str(path)

    def peer_python(self, environment="peers"):
        """The interpreter with the peers, None if they are not installed (tools/venv)."""
        command = [str(self.root / "tools/venv"), environment]
        if not self.install_peers:
            command.append("--if-present")
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0 and self.install_peers:
            raise Missing("the peers could not be installed (above)")
        return done.stdout.strip() if done.returncode == 0 else None

    def model_file(self):
        """The GGUF file to measure: --model, or the cached smollm2."""
        if self.model:
            return self.model
        cache = os.environ.get("TROUPE_CACHE") or pathlib.Path.home() / ".cache/troupe"
        found = sorted(pathlib.Path(cache).glob("models/smollm2/*.gguf"))
        if not found:
            raise Missing("no model: build/release/bin/troupe model pull smollm2, or --model FILE")
        return str(found[0])


def run_json(command, timeout_s=900, env=None):
    """Runs a program and reads the JSON object that its output ends with."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=timeout_s, check=False, env=env)
    except subprocess.TimeoutExpired as late:
        raise Missing(f"{command[0]} took longer than {timeout_s} s") from late
    start = ("\n" + done.stdout).rfind("\n{")
    if done.returncode != 0 or start < 0:
        end = (done.stderr or done.stdout).strip()[-400:]
        raise Missing(f"{command[0]} failed with exit code {done.returncode}: {end}")
    try:
        return json.loads(done.stdout[start:])
    except ValueError as failure:
        raise Missing(f"{command[0]} printed no JSON: {failure}") from failure
