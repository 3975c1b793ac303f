#!/usr/bin/env python3
"""A bar of hexahedra, straight or bent into an arc, as an Abaqus deck on standard output.

    python3 model.py NX NY NZ LENGTH WIDTH [DEGREES]

The bar is along x, from the face x = 0, the set "base", to the other end, the set "tip", with a square section whose centre is at
y = z = 0. With DEGREES it is an arc about the z axis through (0, LENGTH / angle, 0), the length is that of its middle line, and
the base is as before.
"""
import math
import sys


def place(s, y, angle, length):
    """x and y of a point at s along the middle line, y beside it."""
    if angle == 0:
        return s, y
    radius = length / angle
    turn = s / radius
    return (radius - y) * math.sin(turn), radius - (radius - y) * math.cos(turn)


def main():
    nx, ny, nz = (int(a) for a in sys.argv[1:4])
    length, width = (float(a) for a in sys.argv[4:6])
    angle = math.radians(float(sys.argv[6])) if len(sys.argv) > 6 else 0

    def number(i, j, k):
        return 1 + i + (nx + 1) * (j + (ny + 1) * k)

    print("*NODE")
    for k in range(nz + 1):
        for j in range(ny + 1):
            for i in range(nx + 1):
                x, y = place(length * i / nx, width * (j / ny - 0.5), angle, length)
                print("%d, %.15g, %.15g, %.15g" % (number(i, j, k), x, y, width * (k / nz - 0.5)))
    print("*ELEMENT, TYPE=C3D8I")
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [(i, j, k) for k in range(nz) for j in range(ny) for i in range(nx)]
    for e, (i, j, k) in enumerate(cells):
        print(e + 1, *(number(i + a, j + b, k + c) for a, b, c in corners), sep=", ")
    for name, i in ("base", 0), ("tip", nx):
        print("*NSET, NSET=%s" % name)
        print(*(number(i, j, k) for k in range(nz + 1) for j in range(ny + 1)), sep=",\n")


main()
