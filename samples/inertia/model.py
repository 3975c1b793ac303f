#!/usr/bin/env python3
"""Write a long-necked animal, 10 m long, as Wavefront OBJ to standard output.

    python3 model.py > dinosaur.obj

It looks along +x, up is +z, symmetric in y. Five closed tubes that stick into one another: tail, trunk, neck and head in
one, and four legs. The head is x > 5, the feet stand on z = 0.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import catmull_rom, write_obj

RING = 24  # vertices of a cross-section

# Points of an axis in the plane of its y: x, z and the radius there.
SPINE = (
    (-3.30, 1.60, 0.16),
    (-2.70, 1.75, 0.38),
    (-1.90, 2.05, 0.72),
    (-1.00, 2.25, 0.95),
    (0.00, 2.30, 1.00),
    (0.90, 2.38, 0.85),
    (1.60, 2.62, 0.58),
    (2.30, 3.00, 0.40),
    (3.20, 3.50, 0.33),
    (4.10, 3.92, 0.30),
    (4.90, 4.18, 0.30),
    (5.40, 4.26, 0.40),
    (5.85, 4.20, 0.35),
    (6.30, 4.08, 0.20),
)
LEG = ((0.00, 2.10, 0.42), (0.03, 1.50, 0.40), (0.05, 0.90, 0.34), (0.02, 0.50, 0.32), (0.06, 0.19, 0.38))
LEGS = ((-1.25, -0.52), (-1.25, 0.52), (0.95, -0.48), (0.95, 0.48))  # x and y of their upper ends


def tube(points, y, parts):
    """Vertices and triangles, from 0, of the closed surface about an axis: rings, with a rounded cap at both ends."""
    axis = catmull_rom(points, parts)
    vertices, triangles = [], []
    for i, (x, z, radius) in enumerate(axis):
        (x0, z0, _), (x1, z1, _) = axis[max(i - 1, 0)], axis[min(i + 1, len(axis) - 1)]
        length = math.hypot(x1 - x0, z1 - z0)
        # The ring is upright to the axis: one radius along y, the other along its normal in the plane.
        nx, nz = -(z1 - z0) / length, (x1 - x0) / length
        for k in range(RING):
            angle = 2 * math.pi * k / RING
            vertices.append((x + radius * math.sin(angle) * nx, y + radius * math.cos(angle), z + radius * math.sin(angle) * nz))
    first, last = len(vertices), len(vertices) + 1
    for (x, z, radius), (bx, bz, _) in ((axis[0], axis[1]), (axis[-1], axis[-2])):
        beyond = 0.5 * radius / math.hypot(x - bx, z - bz)
        vertices.append((x + beyond * (x - bx), y, z + beyond * (z - bz)))
    end = RING * (len(axis) - 1)
    for k in range(RING):
        after = (k + 1) % RING
        triangles += [(first, after, k), (last, end + k, end + after)]
        for a in range(0, end, RING):
            triangles += [(a + k, a + RING + after, a + RING + k), (a + k, a + after, a + RING + after)]
    return vertices, triangles


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > dinosaur.obj", file=sys.stderr)
        return 2
    parts = [tube(SPINE, 0.0, 4)]
    parts += [tube([(x + dx, z, radius) for dx, z, radius in LEG], y, 4) for x, y in LEGS]
    return write_obj(parts, "long-necked animal, m; looks along +x, stands on z = 0")


if __name__ == "__main__":
    sys.exit(main())
