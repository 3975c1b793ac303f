#!/usr/bin/env python3
"""Write a peg, or the block with the hole that it fits into, as Wavefront OBJ in metres to standard output.

    python3 model.py peg > peg.obj
    python3 model.py hole > hole.obj

The peg is a tapered plug of 0.2 m with a star of seven rounded lobes as its section, rings of bumps on its flank and a wavy
foot. The hole is the very same surface in a round block: pushed home, the peg touches everywhere.
"""

import pathlib
import sys
from math import cos, pi, sin

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import ring_surface, write_obj

AROUND, FOOT, FLANK = 280, 30, 110  # facets around, rings of the foot and of the flank
DEPTH, TOP, BOTTOM = 0.20, 0.12, 0.075  # m: length, radius at the rim and at the foot
BLOCK, UNDER = 0.18, 0.05  # m: radius of the block, and what is left of it below the hole


def lobes(angle):
    return 1.0 + 0.16 * cos(7 * angle)


def foot_height(angle, s):
    """The sole swells in three knobs; it is smooth at the middle and level at its edge."""
    return 0.02 * (s * (1.0 - s)) ** 2 * 16 * sin(3 * angle) - 0.012 * (1.0 - s * s) ** 2


def rings():
    """Points (x, y, z) ring by ring from the foot's middle, which is one point, to the rim at z = 0."""
    angles = [2 * pi * k / AROUND for k in range(AROUND)]
    yield [(0.0, 0.0, -DEPTH + foot_height(0.0, 0.0))]
    for i in range(1, FOOT + 1):
        s = i / FOOT
        yield [(BOTTOM * s * lobes(a) * cos(a), BOTTOM * s * lobes(a) * sin(a), -DEPTH + foot_height(a, s)) for a in angles]
    for i in range(1, FLANK + 1):
        t = i / FLANK
        size = BOTTOM + (TOP - BOTTOM) * t
        bump = [1.0 + 0.008 * sin(pi * t) * sin(14 * pi * t) * sin(21 * a) for a in angles]
        yield [(size * lobes(a) * b * cos(a), size * lobes(a) * b * sin(a), -DEPTH * (1.0 - t)) for a, b in zip(angles, bump)]


def round_ring(radius, z):
    return [(radius * cos(2 * pi * k / AROUND), radius * sin(2 * pi * k / AROUND), z) for k in range(AROUND)]


def main():
    if sys.argv[1:] not in (["peg"], ["hole"]):
        print("usage: model.py peg|hole > out.obj", file=sys.stderr)
        return 2
    if sys.argv[1] == "peg":  # with a grip above
        grip = [round_ring(r, z) for r, z in ((0.10, 0.01), (0.05, 0.03), (0.05, 0.06))] + [[(0.0, 0.0, 0.06)]]
        part = ring_surface(list(rings()) + grip)
    else:
        low = -DEPTH - 0.02 - UNDER
        outside = [[(0.0, 0.0, low)]] + [round_ring(BLOCK * s, low) for s in (0.25, 0.5, 0.75, 1.0)]
        outside += [round_ring(BLOCK, low + (0.0 - low) * k / 12) for k in range(1, 13)]
        part = ring_surface(outside + list(rings())[::-1])
    return write_obj([part], number="%.7g")


if __name__ == "__main__":
    sys.exit(main())
