#!/usr/bin/env python3
"""Write the model of a bent wire as Wavefront OBJ to standard output.

    python3 model.py > wire.obj

A round wire, 6 mm thick, wound into a cone of four turns about the z axis with a straight foot below: one closed tube, some
1.6 m long. Vertex 0 is the tip of its free end, vertex 1 that of its foot.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import cross, unit, write_obj

RING = 12  # vertices of a cross-section
RADIUS = 0.003  # m
TURNS = 4
PARTS = 48  # sections a turn


def curve():
    """Points of the axis: the foot, then a spiral that narrows as it rises, m."""
    points = [(0.10, 0.0, -0.06 + 0.005 * k) for k in range(8)]
    for k in range(TURNS * PARTS + 1):
        turn = k / PARTS
        angle, radius = 2 * math.pi * turn, 0.10 - 0.018 * turn
        points.append((radius * math.cos(angle), radius * math.sin(angle), 0.05 * turn))
    return points


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > wire.obj", file=sys.stderr)
        return 2
    axis = curve()
    vertices, triangles = [axis[-1], axis[0]], []
    side = (0.0, 1.0, 0.0)
    for i, point in enumerate(axis):
        along = unit([b - a for a, b in zip(axis[max(i - 1, 0)], axis[min(i + 1, len(axis) - 1)])])
        height = unit(cross(along, side))  # the section's frame turns as little as it can
        side = cross(height, along)
        for k in range(RING):
            u, v = (RADIUS * f(2 * math.pi * k / RING) for f in (math.cos, math.sin))
            vertices.append(tuple(p + u * s + v * h for p, s, h in zip(point, side, height)))
    last = 2 + RING * (len(axis) - 1)
    for k in range(RING):
        after = (k + 1) % RING
        triangles += [(1, 2 + after, 2 + k), (0, last + k, last + after)]
        for a in range(2, last, RING):
            triangles += [(a + k, a + after, a + RING + k), (a + after, a + RING + after, a + RING + k)]
    return write_obj([(vertices, triangles)], "wire, m; vertex 0: the tip of its free end", "%.7f")


if __name__ == "__main__":
    sys.exit(main())
