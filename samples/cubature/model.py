#!/usr/bin/env python3
"""Write the model of an arm, 0.5 m long, as Wavefront OBJ to standard output.

    python3 model.py > arm.obj

It points along +x from the shoulder at x = 0, symmetric in y and z. One closed tube, thick at the upper arm and the forearm,
thin at the elbow (x = 0.24) and the wrist. Vertex 0 is the tip of the hand. Its bones are regions by box: see the Makefile.
"""

import math
import sys

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


def catmull_rom(points, parts):
    """The C1 cubic through `points`, `parts` pieces between neighbours."""
    ends = [tuple(2 * a - b for a, b in zip(points[0], points[1])), *points]
    ends.append(tuple(2 * a - b for a, b in zip(points[-1], points[-2])))
    curve = []
    for p, q, r, s in zip(ends, ends[1:], ends[2:], ends[3:]):
        for k in range(parts):
            t = k / parts
            weights = (t * (t * (2 - t) - 1) / 2, (t * t * (3 * t - 5) + 2) / 2, t * (t * (4 - 3 * t) + 1) / 2, t * t * (t - 1) / 2)
            curve.append(tuple(sum(w * v for w, v in zip(weights, four)) for four in zip(p, q, r, s)))
    return [*curve, points[-1]]


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
    vertices, triangles = tube(ARM, 5)
    lines = ["# arm, m; points along x, held at the shoulder x = 0"]
    lines += ["v %.6f %.6f %.6f" % vertex for vertex in vertices]
    lines += ["f %d %d %d" % tuple(1 + v for v in triangle) for triangle in triangles]
    try:
        print("\n".join(lines), flush=True)
    except OSError as error:
        print(f"model.py: standard output: {error.strerror}", file=sys.stderr)
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
