#!/usr/bin/env python3
"""How many tetrahedra are turned inside out, from a body of model.py and the displacements of all its vertices.

    python3 inverted.py body.mesh probes.csv

Prints the number in the last frame and the largest number in any frame; "-" for both where a displacement is not finite.
"""

import csv
import math
import sys

from body import read


def positive(x, tet):
    """Whether the volume of a tetrahedron is positive."""
    o = x[tet[0]]
    (a, b, c), (d, e, f), (g, h, i) = ([p - q for p, q in zip(x[v], o)] for v in tet[1:])
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0


def main():
    if len(sys.argv) != 3:
        print("usage: inverted.py body.mesh probes.csv", file=sys.stderr)
        return 2
    vertices, tets = read(sys.argv[1])
    most = last = 0
    with open(sys.argv[2], encoding="utf-8", newline="") as text:
        rows = csv.reader(text)
        first = next(rows).index("v0_x")
        for row in rows:
            u = [float(number) for number in row[first:]]
            if not all(map(math.isfinite, u)):
                print("- -")
                return 0
            now = [[vertices[v][c] + u[3 * v + c] for c in range(3)] for v in range(len(vertices))]
            last = sum(not positive(now, tet) for tet in tets)
            most = max(most, last)
    print(last, most)
    return 0


if __name__ == "__main__":
    sys.exit(main())
