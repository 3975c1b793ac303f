#!/usr/bin/env python3
"""Compares bent beams with Euler's elastica: beam.py YOUNG FORCE MESH.npz MOTION.npz [MESH.npz MOTION.npz ...].

The elastica of the force P at the end of a clamped beam is E I θ''(s) = -P cos θ, θ(0) = 0, θ'(1) = 0. The beams are 1
m long with a section of 0.1 m by 0.1 m. Strains are those of the lines between vertices at the top and at the bottom,
from x = 0.1 m to 0.125 m. At the curvature κ a line at the height y is stretched by κ (y - κ c²/2), with c half the
height of the section: the law of St. Venant and Kirchhoff is stiffer in tension than in compression, and the line that
keeps its length lies κ c²/2 above the middle. There the sum of the forces E (e + 3/2 e²) is zero.
"""

import array
import math
import struct
import sys
import zipfile

HIGH = 0.1
PLACE = (0.1, 0.125)


def member(path, name):
    """The last member whose name begins so: the last block of frames."""
    with zipfile.ZipFile(path) as file:
        data = file.read([n for n in file.namelist() if n.startswith(name)][-1])
    return array.array("d", data[10 + struct.unpack("<H", data[8:10])[0]:])


def shoot(load, curvature, steps=4000):
    """θ and θ' at the end for θ'(0), with the place (x, z) of the end and the curvature at PLACE, by Runge and Kutta's method."""
    h, state, middle = 1 / steps, [0.0, curvature, 0.0, 0.0], curvature

    def rate(y):
        return [y[1], -load * math.cos(y[0]), math.cos(y[0]), math.sin(y[0])]

    for n in range(steps):
        a = rate(state)
        b = rate([y + h / 2 * k for y, k in zip(state, a)])
        c = rate([y + h / 2 * k for y, k in zip(state, b)])
        d = rate([y + h * k for y, k in zip(state, c)])
        state = [y + h / 6 * (p + 2 * q + 2 * r + s) for y, p, q, r, s in zip(state, a, b, c, d)]
        if n + 1 == round(sum(PLACE) / 2 * steps):
            middle = state[1]
    return state, middle


def elastica(load):
    low, high = 0.0, load
    for _ in range(60):
        half = (low + high) / 2
        low, high = (half, high) if shoot(load, half)[0][1] < 0 else (low, half)
    state, middle = shoot(load, high)
    return state[3], 1 - state[2], middle


def length(vertices, u, ends):
    return math.dist(*([vertices[3 * v + k] + u[3 * v + k] for k in range(3)] for v in ends))


def measured(mesh, motion):
    vertices = member(mesh, "vertices")
    number = {tuple(round(c, 6) for c in vertices[3 * v : 3 * v + 3]): v for v in range(len(vertices) // 3)}
    u = member(motion, "u/")[-len(vertices):]
    tip = number[1, 0, 0]
    strains = []
    for z in (HIGH / 2, -HIGH / 2):
        ends = [number[x, 0, z] for x in PLACE]
        strains.append(((length(vertices, u, ends) / (PLACE[1] - PLACE[0])) ** 2 - 1) / 2)
    return -u[3 * tip + 2], -u[3 * tip], *strains


def main():
    young, force = float(sys.argv[1]), float(sys.argv[2])
    drop, back, curvature = elastica(force / (young * HIGH**4 / 12))
    bend = curvature * HIGH / 2
    top, bottom = bend - bend**2 / 2, -bend - bend**2 / 2
    rows = [("elastica", drop, back, top + top**2 / 2, bottom + bottom**2 / 2)]
    for mesh, motion in zip(sys.argv[3::2], sys.argv[4::2]):
        rows.append((motion.split("-")[-1].split(".")[0] + " elements along it", *measured(mesh, motion)))
    print("%-24s%10s%10s%15s%15s%19s" % ("bent beam", "drop [m]", "back [m]", "strain at top", "at bottom", "stress, top [kPa]"))
    for name, drop, back, top, bottom in rows:
        # With Poisson's ratio 0 the Cauchy stress of St. Venant and Kirchhoff's law is the stretch times E times the strain.
        print("%-24s%10.4f%10.4f%15.4f%15.4f%19.1f" % (name, drop, back, top, bottom, math.sqrt(1 + 2 * top) * young * top / 1000))


main()
