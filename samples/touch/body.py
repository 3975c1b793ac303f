#!/usr/bin/env python3
"""Write a body whose underside has six bumps, as Wavefront OBJ in metres to standard output: 13 cm along y, 3 cm along x, 3 cm high.

    python3 body.py > body.obj

One closed surface: a profile (y, z) swept along x and drawn in at both ends. A bump is a ridge across the body, 5 mm high, so
that a thin rail passes under one after another.
"""

from math import cos, exp, pi, sin

BUMPS = [16e-3 * (k - 2.5) for k in range(6)]  # y of their middles
HEIGHT, WIDTH = 5e-3, 2.4e-3  # of exp(-(y - middle)^2 / 2 width^2)
HALF, THICK, CROSS = 65e-3, 10e-3, 14e-3  # half the length, the thickness above the bottom at the middle, half the width
COLUMNS, ROWS = 260, 24


def profile():
    """Points (y, z) around: the bottom from -y to y, then the back over it."""
    bottom = [HALF * (2 * k / COLUMNS - 1) for k in range(COLUMNS + 1)]
    points = [(y, end_rise(y) - HEIGHT * sum(exp(-((y - b) ** 2) / (2 * WIDTH**2)) for b in BUMPS)) for y in bottom]
    return points + [(HALF * cos(pi * k / 60), 2 * THICK * sin(pi * k / 60) ** 0.5 + end_rise(HALF)) for k in range(1, 60)]


def end_rise(y):
    """The bottom is level between the outermost bumps and climbs towards the ends."""
    over = max(0.0, abs(y) - 48e-3)
    return 12.0 * over * over


def main():
    rim = profile()
    centre = (0.0, THICK)
    vertices, faces = [], []
    for i in range(ROWS + 1):
        a = pi * (i + 0.5) / (ROWS + 1)
        x, size = -CROSS * cos(a), sin(a) ** 0.35
        # drawn in towards the middle along z only near the caps, so that ridges stay level across the body
        vertices += [(x, centre[0] + (y - centre[0]) * size, centre[1] + (z - centre[1]) * size) for y, z in rim]
    n = len(rim)
    for i in range(ROWS):
        for k in range(n):
            m = (k + 1) % n
            faces.append((n * i + k, n * i + m, n * (i + 1) + m, n * (i + 1) + k))
    for first, x, turn in ((0, -CROSS, -1), (n * ROWS, CROSS, 1)):
        middle = len(vertices)
        vertices.append((x, centre[0], centre[1]))
        faces += [(middle, first + k, first + (k + 1) % n)[::turn] for k in range(n)]
    for v in vertices:
        print("v %.7g %.7g %.7g" % v)
    for f in faces:
        print("f", *(c + 1 for c in f))


main()
