#!/usr/bin/env python3
"""Write a mast on a deck as Wavefront OBJ to standard output: model.py > mast.obj

The deck is 4 m long (x), 1.2 m wide (y) and 0.25 m high, with its upper side at z = 0. The mast stands on its middle, 3
m high; the last vertex is its top. Both are closed and stick into one another.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import ring_surface, write_obj

AROUND = 16
HIGH = 3.0


def ring(radius, z):
    return [(radius * math.cos(a), radius * math.sin(a), z) for a in (2 * math.pi * k / AROUND for k in range(AROUND))]


def deck():
    xs = [-2 + 4 * i / 40 for i in range(41)]
    corners = [(-0.6, -0.25), (-0.2, -0.25), (0.2, -0.25), (0.6, -0.25), (0.6, 0.0), (0.2, 0.0), (-0.2, 0.0), (-0.6, 0.0)]
    rings = [[(x, y, z) for y, z in corners] for x in xs]
    return ring_surface([[(xs[0], 0, -0.125)], *rings, [(xs[-1], 0, -0.125)]])


def mast():
    rings = [ring(0.17 - 0.05 * k / 60, -0.1 + (HIGH + 0.1) * k / 60) for k in range(61)]
    knob = [ring(0.2 * math.cos(a), HIGH + 0.1 + 0.2 * math.sin(a)) for a in (-0.9, -0.5, 0, 0.5, 1.0)]
    return ring_surface([[(0, 0, -0.1)], *rings, *knob, [(0, 0, HIGH + 0.3)]])


sys.exit(write_obj([deck(), mast()]))
