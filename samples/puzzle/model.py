#!/usr/bin/env python3
"""Write the alpha of the puzzle as Wavefront OBJ to standard output, m: a round tube that is bent to a loop whose ends cross.

    python3 model.py > alpha.obj

The loop is 300° of a helix of radius 1 about z with a pitch of 1; its ends go straight on, flatter than the helix, so that they
pass each other more closely where they cross.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import cross, unit, write_obj

TURN = math.radians(300)
PITCH = 1.0
END = 1.1  # length of the straight ends
FLAT = 0.8  # their slope by that of the helix
TUBE = 0.225  # radius
AROUND = 24
CAP = 6  # rings of the round ends


def place(s):
    """The point of the middle line at the arc length s from the middle of the loop."""
    rise = PITCH / (2.0 * math.pi)
    half = 0.5 * TURN * math.sqrt(1.0 + rise * rise)
    if abs(s) <= half:
        angle = s / math.sqrt(1.0 + rise * rise)
        return math.cos(angle), math.sin(angle), rise * angle
    sign = math.copysign(1.0, s)
    further = (abs(s) - half) / math.sqrt(1.0 + (FLAT * rise) ** 2)
    angle = 0.5 * TURN
    return (
        math.cos(angle) - further * math.sin(angle),
        sign * (math.sin(angle) + further * math.cos(angle)),
        sign * rise * (angle + FLAT * further),
    )


def half_length():
    return 0.5 * TURN * math.hypot(1.0, PITCH / (2.0 * math.pi)) + END


def middle_line(count):
    return [place(half_length() * (2.0 * i / (count - 1) - 1.0)) for i in range(count)]


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > alpha.obj", file=sys.stderr)
        return 2
    line = middle_line(161)
    rings = []
    across = [0.0, 0.0, 1.0]
    for i, point in enumerate(line):
        along = unit([b - a for a, b in zip(line[max(i - 1, 0)], line[min(i + 1, len(line) - 1)])])
        # Of least twist: the direction across is that of the section before, made square to the line.
        part = sum(a * b for a, b in zip(across, along))
        across = unit([a - part * b for a, b in zip(across, along)])
        other = cross(along, across)
        # A section and, at the ends, those of half a ball.
        steps = [(0.0, 1.0)]
        if i == 0:
            steps = [(-math.cos(0.5 * math.pi * k / CAP), math.sin(0.5 * math.pi * k / CAP)) for k in range(1, CAP + 1)]
        elif i == len(line) - 1:
            steps = [(math.cos(0.5 * math.pi * k / CAP), math.sin(0.5 * math.pi * k / CAP)) for k in range(CAP, 0, -1)]
        for ahead, wide in steps:
            rings.append([
                tuple(
                    p + TUBE * (ahead * t + wide * (math.cos(2 * math.pi * k / AROUND) * u + math.sin(2 * math.pi * k / AROUND) * v))
                    for p, t, u, v in zip(point, along, across, other)
                )
                for k in range(AROUND)
            ])
        if i == 0:
            first = tuple(p - TUBE * t for p, t in zip(point, along))
        last = tuple(p + TUBE * t for p, t in zip(point, along))
    triangles = []
    for i in range(len(rings) - 1):
        for k in range(AROUND):
            a, b = 2 + AROUND * i + k, 2 + AROUND * i + (k + 1) % AROUND
            triangles += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
    end = 2 + AROUND * (len(rings) - 1)
    for k in range(AROUND):
        triangles += [(0, 2 + (k + 1) % AROUND, 2 + k), (1, end + k, end + (k + 1) % AROUND)]
    return write_obj([([first, last] + [vertex for ring in rings for vertex in ring], triangles)], number="%.9f")


if __name__ == "__main__":
    sys.exit(main())
