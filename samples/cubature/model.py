#!/usr/bin/env python3
"""Write the model of an arm, 0.5 m long, as Wavefront OBJ to standard output.

    python3 model.py > arm.obj

It points along +x from the shoulder at x = 0, symmetric in y and z. One closed tube, thick at the upper arm and the forearm,
thin at the elbow (x = 0.24) and the wrist. Vertex 0 is the tip of the hand. Its bones are regions by box: see the Makefile.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import catmull_rom, write_obj

RING = 32  # vertices of a cross-section

# Points of an axis along x: x, half width (y), half height (z), m.
ARM = (
    (0.500, 0.018, 0.012),
    (0.480, 0.036, 0.020),
    (0.440, 0.044, 0.022),
    (0.400, 0.032, 0.024),
    (0.350, 0.040, 0.038),
    (0.290, 0.048, 0.048),
    (0.240, 0.040, 0.042),
    (0.190, 0.050, 0.052),
    (0.120, 0.057, 0.058),
    (0.050, 0.056, 0.056),
    (0.000, 0.050, 0.050),
)


def tube(points, parts):
    """Vertices and triangles, from 0, of the closed surface about the x axis: the middles of its flat ends, then rings."""
    axis = catmull_rom(points, parts)
    vertices = [(axis[0][0], 0.0, 0.0), (axis[-1][0], 0.0, 0.0)]
    for x, width, height in axis:
        angles = [2 * math.pi * k / RING for k in range(RING)]
        vertices += [(x, width * math.cos(angle), height * math.sin(angle)) for angle in angles]
    triangles, end = [], 2 + RING * (len(axis) - 1)
    for k in range(RING):
        after = (k + 1) % RING
        triangles += [(0, 2 + k, 2 + after), (1, end + after, end + k)]
        for a in range(2, end, RING):
            triangles += [(a + k, a + RING + k, a + after), (a + after, a + RING + k, a + RING + after)]
    return vertices, triangles


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > arm.obj", file=sys.stderr)
        return 2
    return write_obj([tube(ARM, 5)], "arm, m; points along x, held at the shoulder x = 0")


if __name__ == "__main__":
    sys.exit(main())
