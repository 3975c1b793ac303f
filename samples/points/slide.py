#!/usr/bin/env python3
"""A ball that slides along a tilted plate, to standard output: slide.py ball|plate OBJ, slide.py path the path of the
ball, slide.py press its path when it is pressed straight into the plate, slide.py exact STIFFNESS POINTS the normal
force of a plane on the ball, slide.py crumbs 3375 tetrahedra of 1 mm, randomly placed and turned in a box as wide as
the ball (OBJ).

The force of a plane at the depth h on evenly spread points with penalty forces k d along the radii of a ball of radius
R is, from the cap cos θ > c = 1 - h / R, k N R / 2 times the integral of (u - c) u du from c to 1: k N R / 2 ((1 - c^3)
/ 3 - c (1 - c^2) / 2)."""

import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import joined, ring_surface, turned, write_lines, write_obj

RADIUS, DEPTH, TILT = 0.1, 0.02, math.radians(20)
HALF = (0.5, 0.3, 0.15)  # of the plate, m
SECONDS, WAY = 1.0, 0.2  # the ball slides by WAY m in SECONDS s


def tilted(x, y, z):
    """From the axes of the plate to the world, by a rotation about y. The middle of the plate's upper side is the origin, and z
    is its normal."""
    return (x * math.cos(TILT) + z * math.sin(TILT), y, -x * math.sin(TILT) + z * math.cos(TILT))


def crumbs():
    """One tetrahedron in each cell of a grid that is aligned with the plate, too small to meet the next one."""
    dice, count, size = random.Random(3), 15, 0.001
    cell, parts = 2 * RADIUS / count, []
    corners = [(size, size, size), (size, -size, -size), (-size, size, -size), (-size, -size, size)]
    for i in range(count**3):
        place = [cell * (n + dice.uniform(0.2, 0.8)) - RADIUS for n in (i % count, i // count % count, i // count**2)]
        angles = [dice.uniform(0, 360) for _ in "xyz"]
        vertices = corners
        for axis, angle in zip("xyz", angles):
            vertices = [turned(v, axis, angle) for v in vertices]
        parts.append(([tilted(*(p + c for p, c in zip(place, v))) for v in vertices], [(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]))
    return joined(parts)


def main():
    what = sys.argv[1]
    if what == "crumbs":
        return write_obj([crumbs()])
    if what == "ball":
        n = 60
        rings = [[(RADIUS * math.sin(t) * math.cos(2 * math.pi * k / (2 * n)), RADIUS * math.sin(t) * math.sin(2 * math.pi * k / (2 * n)), -RADIUS * math.cos(t))
                  for k in range(2 * n)] for t in (math.pi * i / n for i in range(1, n))]
        return write_obj([ring_surface([[(0, 0, -RADIUS)], *rings, [(0, 0, RADIUS)]])])
    if what == "plate":
        a, b, c = HALF
        ring = [(-a, -b), (a, -b), (a, b), (-a, b)]
        rings = [[tilted(x, y, z) for x, y in ring] for z in (-2 * c, 0)]
        return write_obj([ring_surface([[tilted(0, 0, -2 * c)], *rings, [tilted(0, 0, 0)]])])
    if what in ("path", "press"):
        ends = [tilted(s * WAY / 2, 0, RADIUS - DEPTH) for s in (-1, 1)]
        if what == "press":
            ends = [tilted(0, 0, RADIUS), tilted(0, 0, RADIUS - 2 * DEPTH)]
        return write_lines(["t,x,y,z,qw,qx,qy,qz"] + ["%g,%.9g,%.9g,%.9g,1,0,0,0" % (t, *end) for t, end in zip((0, SECONDS), ends)])
    c = 1 - DEPTH / RADIUS
    return write_lines(["%.6g" % (float(sys.argv[2]) * int(sys.argv[3]) * RADIUS / 2 * ((1 - c**3) / 3 - c * (1 - c * c) / 2))])


sys.exit(main())
