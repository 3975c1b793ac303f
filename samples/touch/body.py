#!/usr/bin/env python3
"""Write a body whose underside has six bumps, as Wavefront OBJ in metres to standard output: 13 cm along y, 3 cm along x, 3 cm high.

    python3 body.py > body.obj

One closed surface: a profile (y, z) swept along x and drawn in at both ends. The bumps are round, 6 mm high and stand in a
zigzag, like the plates on the back of a stegosaur: a rail along x meets one after another, each at another place.
"""

from math import cos, exp, pi, sin

BUMPS = [(3.2e-3 * (x - 2.5), 16e-3 * (k - 2.5)) for k, x in enumerate((0, 3, 1, 4, 2, 5))]  # x, y of their middles
HEIGHT, WIDTH = 6e-3, 3e-3  # of exp(-distance^2 / 2 width^2)
HALF, THICK, CROSS = 65e-3, 10e-3, 14e-3  # half the length, the thickness above the bottom at the middle, half the width
COLUMNS, ROWS = 260, 60


def profile():
    """Points (y, z) around: the bottom from -y to y, then the back over it."""
    bottom = [HALF * (2 * k / COLUMNS - 1) for k in range(COLUMNS + 1)]
    back = [(HALF * cos(pi * k / 60), 2 * THICK * sin(pi * k / 60) ** 0.5 + end_rise(HALF)) for k in range(1, 60)]
    return [(y, end_rise(y)) for y in bottom] + back


def end_rise(y):
    """The bottom is level between the outermost bumps and climbs towards the ends."""
    over = max(0.0, abs(y) - 48e-3)
    return 12.0 * over * over


def bumps(x, y):
    return HEIGHT * sum(exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * WIDTH**2)) for a, b in BUMPS)


def main():
    rim = profile()
    vertices, faces = [], []
    for i in range(ROWS + 1):
        x = -CROSS * cos(pi * (i + 0.5) / (ROWS + 1))
        # drawn in only near the caps, so that the bottom stays level between them
        size = (1.0 - (x / CROSS) ** 6) ** (1.0 / 6.0)
        for k, (y, z) in enumerate(rim):
            vertices.append((x, y * size, THICK + (z - THICK) * size - (bumps(x, y) if k <= COLUMNS else 0.0)))
    n = len(rim)
    for i in range(ROWS):
        for k in range(n):
            m = (k + 1) % n
            faces.append((n * i + k, n * i + m, n * (i + 1) + m, n * (i + 1) + k))
    for first, x, turn in ((0, -CROSS, -1), (n * ROWS, CROSS, 1)):
        middle = len(vertices)
        vertices.append((x, 0.0, THICK))
        faces += [(middle, first + k, first + (k + 1) % n)[::turn] for k in range(n)]
    for v in vertices:
        print("v %.7g %.7g %.7g" % v)
    for f in faces:
        print("f", *(c + 1 for c in f))


main()
