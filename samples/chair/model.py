#!/usr/bin/env python3
"""Write the model of a chair, 0.95 m high, as Wavefront OBJ to standard output: a soup of closed parts that stick into one another, m.

    python3 model.py > chair.obj

It stands on z = 0 and looks along +x: four tapered legs, a seat, two posts that lean back, a rail between them and five round bars.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_obj

AROUND = 12


def tube(curve, section):
    """A closed tube of the corners of `section` around the points of `curve`, each (x, y, z, scale), in horizontal cuts."""
    vertices = [(x + scale * u, y + scale * v, z) for x, y, z, scale in curve for u, v in section]
    ring = len(section)
    triangles = []
    for a in range(0, ring * (len(curve) - 1), ring):
        for k in range(ring):
            b = (k + 1) % ring
            triangles += [(a + k, a + b, a + ring + b), (a + k, a + ring + b, a + ring + k)]
    last = len(vertices) - ring
    for k in range(1, ring - 1):
        triangles += [(0, k + 1, k), (last, last + k, last + k + 1)]
    return vertices, triangles


def along(start, end, scales, count=12):
    return [
        tuple(a + (b - a) * i / count for a, b in zip(start, end)) + (scales[0] + (scales[1] - scales[0]) * i / count,)
        for i in range(count + 1)
    ]


def box(half_x, half_y):
    return [(half_x, -half_y), (half_x, half_y), (-half_x, half_y), (-half_x, -half_y)]


def chair():
    disc = [(math.cos(2 * math.pi * k / AROUND), math.sin(2 * math.pi * k / AROUND)) for k in range(AROUND)]
    parts = [tube(along((0, 0, 0.43), (0, 0, 0.47), (1, 1), 1), box(0.22, 0.22))]
    for side in (-1, 1):
        parts.append(tube(along((0.20, 0.20 * side, 0), (0.175, 0.175 * side, 0.45), (0.016, 0.024)), disc))
        parts.append(tube(along((-0.24, 0.20 * side, 0), (-0.185, 0.175 * side, 0.45), (0.016, 0.024)), disc))
        parts.append(tube(along((-0.185, 0.18 * side, 0.45), (-0.28, 0.19 * side, 0.93), (0.024, 0.018)), disc))
    parts.append(tube(along((-0.2755, 0, 0.86), (-0.287, 0, 0.95), (1, 1), 2), box(0.016, 0.21)))
    for k in range(-2, 3):
        parts.append(tube(along((-0.19, 0.065 * k, 0.46), (-0.277, 0.065 * k, 0.88), (0.011, 0.011)), disc))
    return parts


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > chair.obj", file=sys.stderr)
        return 2
    return write_obj(chair())


if __name__ == "__main__":
    sys.exit(main())
