"""The points of a table, and the rule between them (runtime/simulation/timing_grid.hpp)."""

import dataclasses
import math

import numpy


def geometric(low, high, per_octave):
    """Whole numbers from low to high, so many for each doubling."""
    steps = round(math.log2(high / low) * per_octave)
    return sorted({round(low * 2 ** (i / per_octave)) for i in range(steps + 1)})


@dataclasses.dataclass(frozen=True)
class Grid:
    requests: list  # that share a prefill step
    new_tokens: list  # of all of them, on one rank
    prefix: list
    batch: list  # query tokens a rank
    context: list
    held_out: int = 3000  # points that its error is taken from
    imbalance: bool = True  # whether tables also say what uneven experts cost

    @property
    def prefill_axes(self):
        return {"requests": self.requests, "new_tokens": self.new_tokens, "prefix": self.prefix}

    @property
    def decode_axes(self):
        return {"batch": self.batch, "context": self.context}


FINE = Grid(
    requests=[1, 2, 4, 8, 16],
    new_tokens=geometric(64, 65536, 4),
    prefix=[0, 64, 128, *geometric(256, 262144, 2)],
    batch=sorted({*range(1, 17), *geometric(16, 1536, 8)}),  # 256 rows of 1 + 5
    context=geometric(1024, 262144, 3))

# For many tables of short prompts (tools/bench silicon): a tenth of the points, contexts from 128.
COARSE = Grid(
    requests=[1, 2, 4, 16],
    new_tokens=geometric(64, 32768, 3),
    prefix=[0, 512, 2048, 8192, 16384],
    batch=sorted({1, 2, 3, *geometric(4, 1024, 4)}),
    context=geometric(128, 32768, 2),
    held_out=100, imbalance=False)


def each(requests, new_tokens):
    """New tokens of one of equal requests."""
    return max(1, round(new_tokens / requests))


def interpolate(axes, values, point):
    """Linear along every axis, in -1/n for the requests; clamped to the grid."""
    if len(axes) == 3:
        axes = [[-1 / n for n in axes[0]], *axes[1:]]
        point = [-1 / point[0], *point[1:]]
    for axis, x in zip(axes, point):
        low = min(max(int(numpy.searchsorted(axis, x, "right")) - 1, 0), len(axis) - 2)
        weight = min(max((x - axis[low]) / (axis[low + 1] - axis[low]), 0), 1)
        values = values[low] * (1 - weight) + values[low + 1] * weight
    return float(values)


def held_out_error(axes, values, truth, points):
    """Relative errors of interpolate() at random points, almost none of them on the grid."""
    rng = numpy.random.default_rng(1)
    errors = []
    for _ in range(points):
        point = [round(math.exp(rng.uniform(math.log(axis[0] or 16), math.log(axis[-1]))))
                 for axis in axes]
        if len(point) == 3:
            point[1] = point[0] * each(point[0], point[1])
        errors.append(abs(interpolate(axes, values, point) / truth(*point) - 1))
    shares = {"p50": 50, "p95": 95, "max": 100}
    return {name: round(float(numpy.percentile(errors, share)), 5)
            for name, share in shares.items()}
