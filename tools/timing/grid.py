"""The points of a table, and the rule between them (runtime/simulation/timing_grid.hpp)."""

import math

import numpy


def geometric(low, high, per_octave):
    """Whole numbers from low to high, so many for each doubling."""
    steps = round(math.log2(high / low) * per_octave)
    return sorted({round(low * 2 ** (i / per_octave)) for i in range(steps + 1)})


REQUESTS = [1, 2, 4, 8, 16]  # that share a prefill step
NEW_TOKENS = geometric(64, 65536, 4)  # of all of them, on one rank
PREFIX = [0, 64, 128, *geometric(256, 262144, 2)]
BATCH = sorted({*range(1, 17), *geometric(16, 1536, 8)})  # query tokens a rank: 256 rows of 1 + 5
CONTEXT = geometric(1024, 262144, 3)

PREFILL_AXES = {"requests": REQUESTS, "new_tokens": NEW_TOKENS, "prefix": PREFIX}
DECODE_AXES = {"batch": BATCH, "context": CONTEXT}


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


def held_out_error(axes, values, truth, points=3000):
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
