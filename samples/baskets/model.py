#!/usr/bin/env python3
"""A woven basket of 0.4 m in OBJ on standard output: a bowl of strands that go over and under its staves, a thick rim, and an arched handle
through it. Two closed surfaces that overlap."""
import pathlib
import sys
from math import cos, hypot, pi, sin

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_obj

AROUND = 48     # corners of a ring
STAVES = 12     # pairs of them: a strand goes out and in so often
STRANDS = 7
DEPTH = 0.005   # m, by which a strand bulges
LOW, HIGH = (0.135, 0.015), (0.19, 0.17)    # (r, z) where the strands begin and end, in the middle of the wall
WALL = 0.009    # m, half of its thickness between strands
HANDLE = 24     # parts of the arch
TUBE = 8        # corners of its section
ARCH, THICK = 0.1925, 0.0145


def profile():
    """Of the wall: (r, z, bulge, side) from the middle of the bottom outside over the rim to the middle of the bottom inside."""
    def along(t):
        return [LOW[k] + t * (HIGH[k] - LOW[k]) for k in (0, 1)]

    length = hypot(HIGH[0] - LOW[0], HIGH[1] - LOW[1])
    out = ((HIGH[1] - LOW[1]) / length, -(HIGH[0] - LOW[0]) / length)   # normal of the wall
    points = [(0, 0, 0), (0.10, 0, 0), (0.135, 0.002, 0)]
    for side in (1, -1):
        steps = range(2 * STRANDS + 1)
        for k in steps if side > 0 else reversed(steps):
            r, z = along(k / (2 * STRANDS))
            bulge = 0 if k % 2 == 0 else DEPTH * (1 if k % 4 == 1 else -1)
            points.append((r + side * WALL * out[0], z + side * WALL * out[1], bulge))
        if side > 0:    # the rim: most of a circle
            for k in range(7):
                a = -0.35 * pi + k * 1.7 * pi / 6
                points.append((HIGH[0] + 0.004 + 0.018 * cos(a), HIGH[1] + 0.016 + 0.018 * sin(a), 0))
    return points + [(0.11, 0.02, 0), (0, 0.02, 0)]


def bowl(vertices, faces):
    rings = []
    for r, z, bulge in profile():
        if r == 0:
            rings.append([len(vertices)] * AROUND)
            vertices.append((0, 0, z))
            continue
        rings.append(list(range(len(vertices), len(vertices) + AROUND)))
        for i in range(AROUND):
            a = 2 * pi * i / AROUND
            b = r + bulge * cos(STAVES * a)
            vertices.append((b * cos(a), b * sin(a), z))
    for below, above in zip(rings, rings[1:]):
        for i in range(AROUND):
            j = (i + 1) % AROUND
            corners = [below[i], below[j], above[j], above[i]]
            faces.append([c for k, c in enumerate(corners) if c not in corners[:k]])


def handle(vertices, faces):
    first = len(vertices)
    for i in range(HANDLE + 1):
        a = pi * i / HANDLE
        for k in range(TUBE):
            b = 2 * pi * k / TUBE
            r = ARCH + THICK * cos(b)
            vertices.append((r * cos(a), 1.3 * THICK * sin(b), 0.185 + r * sin(a)))
    for i in range(HANDLE):
        for k in range(TUBE):
            m = (k + 1) % TUBE
            faces.append([first + TUBE * i + k, first + TUBE * i + m, first + TUBE * (i + 1) + m, first + TUBE * (i + 1) + k])
    faces.append([first + k for k in range(TUBE)][::-1])
    faces.append([first + TUBE * HANDLE + k for k in range(TUBE)])


def main():
    vertices, faces = [], []
    bowl(vertices, faces)
    handle(vertices, faces)
    return write_obj([(vertices, faces)], number="%.6g")


if __name__ == "__main__":
    sys.exit(main())
