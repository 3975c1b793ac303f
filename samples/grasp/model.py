#!/usr/bin/env python3
"""Write a closed cylinder as Wavefront OBJ to standard output, about the origin, m.

    python3 model.py axis radius length > model.obj
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_obj

AROUND = 64


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("x", "z"):
        print("usage: model.py x|z radius length > model.obj", file=sys.stderr)
        return 2
    radius, length = float(sys.argv[2]), float(sys.argv[3])
    along = max(1, round(length / (4.0 * radius)))
    place = (lambda u, v, w: (w, u, v)) if sys.argv[1] == "x" else (lambda u, v, w: (u, v, w))
    vertices, triangles = [], []
    for i in range(along + 1):
        for k in range(AROUND):
            angle = 2.0 * math.pi * k / AROUND
            vertices.append(place(radius * math.cos(angle), radius * math.sin(angle), length * (i / along - 0.5)))
    for i in range(along):
        for k in range(AROUND):
            a, b = i * AROUND + k, i * AROUND + (k + 1) % AROUND
            triangles += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
    for end, first in ((-0.5, 0), (0.5, along * AROUND)):
        centre = len(vertices)
        vertices.append(place(0.0, 0.0, end * length))
        for k in range(AROUND):
            a, b = first + k, first + (k + 1) % AROUND
            triangles.append((centre, b, a) if end < 0 else (centre, a, b))
    return write_obj([(vertices, triangles)], number="%.9f")


if __name__ == "__main__":
    sys.exit(main())
