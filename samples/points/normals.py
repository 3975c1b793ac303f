#!/usr/bin/env python3
"""Angles between deformed normals by the deformation gradient, F N, and the true ones, F^-T N: normals.py SHELL.npz
MOTION.npz. The shell has tangents, whose cross product is the true normal. The largest principal strain of the surface
follows from the tangents too."""

import math
import sys

from shell import frames, member, moved


def cross(a, b):
    return [a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3)]


def dot(a, b):
    return sum(map(float.__mul__, a, b))


def unit(a):
    length = math.sqrt(dot(a, a))
    return [x / length for x in a]


def tangents(n):
    k = min(range(3), key=lambda i: abs(n[i]))
    first = unit(cross([float(i == k) for i in range(3)], n))
    return first, cross(n, first)


def strain(first, second):
    """The larger eigenvalue of the Green-Lagrange strain in the surface."""
    a, b, c = (dot(first, first) - 1) / 2, dot(first, second) / 2, (dot(second, second) - 1) / 2
    return (a + c) / 2 + math.hypot((a - c) / 2, b)


def main():
    rest, _ = member(sys.argv[1], "normals")
    dn, _ = member(sys.argv[1], "dNs")
    dt, _ = member(sys.argv[1], "dTs")
    flat = []
    for i in range(0, len(rest), 3):
        for t in tangents(list(rest[i : i + 3])):
            flat += t
    poses = frames(sys.argv[2])
    print("normals by the deformation gradient, %d points" % (len(rest) // 3))
    print("step   median strain   median error   95 % below   largest   above 3.6°   above 5.2°")
    for step in (1, 3, len(poses) - 1):
        q = list(poses[step])
        normals, both = moved(rest, dn, q), moved(flat, dt, q)
        errors, strains = [], []
        for i in range(len(rest) // 3):
            first, second = both[6 * i : 6 * i + 3], both[6 * i + 3 : 6 * i + 6]
            true = unit(cross(first, second))
            n = unit(normals[3 * i : 3 * i + 3])
            across = cross(n, true)
            errors.append(math.degrees(math.atan2(math.sqrt(dot(across, across)), dot(n, true))))
            strains.append(strain(first, second))
        errors.sort()
        strains.sort()
        count = len(errors)
        above = [100 * sum(e > limit for e in errors) / count for limit in (3.6, 5.2)]
        print("%4d%14.1f %%%14.2f°%12.2f°%9.2f°%11.1f %%%11.1f %%" % (step, 100 * strains[count // 2], errors[count // 2], errors[count * 95 // 100], errors[-1], *above))


main()
