#!/usr/bin/env python3
"""How far the bounds of the sphere tree exceed the smallest spheres about the same centres as the body deforms:
spheres.py SHELL.npz MOTION.npz. The bound of a node is its radius at rest and the sum of a_j |q_j| (equation 3.12)."""

import math
import sys

from shell import frames, member, moved


def main():
    points, _ = member(sys.argv[1], "points")
    us, _ = member(sys.argv[1], "Us")
    level, _ = member(sys.argv[1], "level")
    parent, _ = member(sys.argv[1], "parent")
    radius, _ = member(sys.argv[1], "radius")
    a, (_, r) = member(sys.argv[1], "a")
    first = sum(one == 1 for one in level)
    root = []
    for p in range(len(level)):
        root.append(p if p < first else root[parent[p]])
    print("spheres of level 1: %d" % first)
    print("step   mean radius   mean bound   bound by smallest: mean   largest")
    for step, q in enumerate(frames(sys.argv[2])):
        if step not in (0, 1, 3, 10):
            continue
        x = moved(points, us, list(q))
        smallest = [0.0] * first
        for p, c in enumerate(root):
            smallest[c] = max(smallest[c], math.dist(x[3 * p : 3 * p + 3], x[3 * c : 3 * c + 3]))
        bound = [radius[c] + sum(a[r * c + j] * abs(q[j]) for j in range(r)) for c in range(first)]
        if any(b < s for b, s in zip(bound, smallest)):
            sys.exit("spheres.py: a bound is too small")
        ratios = [b / s for b, s in zip(bound, smallest) if s > 0]
        print("%4d%11.2f mm%10.2f mm%26.2f%10.2f" % (step, 1000 * sum(smallest) / first, 1000 * sum(bound) / first, sum(ratios) / len(ratios), max(ratios)))


main()
