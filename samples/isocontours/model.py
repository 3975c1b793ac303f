#!/usr/bin/env python3
"""A body of two legs on a base, 1 m high, in OBJ: model.py whole|left|right. left and right are its halves, which overlap in the
base. Squares of 4 cm, since a surface moves by its vertices. Groups: base, left, right."""
import sys

STEP = 0.04
DEPTH = 0.1  # half the thickness, along y
# columns of the section: (x0, x1, height), in steps
PARTS = {
    "whole": [(-12, -7, 25), (-7, 7, 5), (7, 12, 25)],
    "left": [(-12, -7, 25), (-7, 2, 5)],
    "right": [(-2, 7, 5), (7, 12, 25)],
}
ACROSS = 5


def main():
    columns = PARTS[sys.argv[1]]
    filled = {(i, k) for a, b, high in columns for i in range(a, b) for k in range(high)}
    number, groups = {}, {}

    def vertex(i, j, k):
        return number.setdefault((i, j, k), len(number) + 1)

    for i, k in sorted(filled):
        faces = groups.setdefault("base" if k < 5 else "left" if i < 0 else "right", [])
        faces.append([vertex(i, 0, k), vertex(i + 1, 0, k), vertex(i + 1, 0, k + 1), vertex(i, 0, k + 1)])
        faces.append([vertex(i, ACROSS, k + 1), vertex(i + 1, ACROSS, k + 1), vertex(i + 1, ACROSS, k), vertex(i, ACROSS, k)])
        for j in range(ACROSS):
            if (i - 1, k) not in filled:
                faces.append([vertex(i, j + 1, k), vertex(i, j, k), vertex(i, j, k + 1), vertex(i, j + 1, k + 1)])
            if (i + 1, k) not in filled:
                faces.append([vertex(i + 1, j, k), vertex(i + 1, j + 1, k), vertex(i + 1, j + 1, k + 1), vertex(i + 1, j, k + 1)])
            if (i, k - 1) not in filled:
                faces.append([vertex(i, j + 1, k), vertex(i + 1, j + 1, k), vertex(i + 1, j, k), vertex(i, j, k)])
            if (i, k + 1) not in filled:
                faces.append([vertex(i, j, k + 1), vertex(i + 1, j, k + 1), vertex(i + 1, j + 1, k + 1), vertex(i, j + 1, k + 1)])
    for i, j, k in number:
        print("v %.6g %.6g %.6g" % (STEP * i, 2 * DEPTH * j / ACROSS - DEPTH, STEP * k))
    for name, faces in groups.items():
        print("g", name)
        for f in faces:
            print("f", *f)


main()
