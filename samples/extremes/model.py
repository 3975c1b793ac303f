#!/usr/bin/env python3
"""Write the model of a straight beam with a rectangular section as Wavefront OBJ to standard output.

    python3 model.py > beam.obj

The beam lies along x from x = 0 to LENGTH; its section is WIDTH along y by HEIGHT along z, about the axis y = z = 0. The
surface is one closed manifold of squares of edge CELL, cut into triangles, that faces outward; first the vertices of the
end x = 0, then those of each further section, last those of the end x = LENGTH.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_obj

CELL = 0.0625  # m
ALONG, ACROSS, UP = 60, 8, 4  # cells: the beam is 3.75 m long, 0.5 m wide and 0.25 m high


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > beam.obj", file=sys.stderr)
        return 2
    number, vertices = {}, []
    for i in range(ALONG + 1):
        for j in range(ACROSS + 1):
            for k in range(UP + 1):
                if i in (0, ALONG) or j in (0, ACROSS) or k in (0, UP):
                    vertices.append((CELL * i, CELL * (j - ACROSS / 2), CELL * (k - UP / 2)))
                    number[i, j, k] = len(vertices) - 1
    faces = []

    def square(*corners):
        a, b, c, d = (number[corner] for corner in corners)
        faces.extend([(a, b, c), (a, c, d)])

    for j in range(ACROSS):
        for k in range(UP):
            square((0, j, k), (0, j, k + 1), (0, j + 1, k + 1), (0, j + 1, k))
            square((ALONG, j, k), (ALONG, j + 1, k), (ALONG, j + 1, k + 1), (ALONG, j, k + 1))
    for i in range(ALONG):
        for k in range(UP):
            square((i, 0, k), (i + 1, 0, k), (i + 1, 0, k + 1), (i, 0, k + 1))
            square((i, ACROSS, k), (i, ACROSS, k + 1), (i + 1, ACROSS, k + 1), (i + 1, ACROSS, k))
        for j in range(ACROSS):
            square((i, j, 0), (i, j + 1, 0), (i + 1, j + 1, 0), (i + 1, j, 0))
            square((i, j, UP), (i + 1, j, UP), (i + 1, j + 1, UP), (i, j + 1, UP))
    return write_obj([(vertices, faces)], "beam, m; along x, held at x = 0")


if __name__ == "__main__":
    sys.exit(main())
