#!/usr/bin/env python3
"""The largest stretch of an edge, from a body of model.py and the displacements of all its vertices.

    python3 stretch.py body.mesh probes.csv

Prints the largest over all edges and frames of the length now by that at rest, less 1, and that in the last frame.
"""

import csv
import math
import sys

from body import read


def main():
    if len(sys.argv) != 3:
        print("usage: stretch.py body.mesh probes.csv", file=sys.stderr)
        return 2
    vertices, tets = read(sys.argv[1])
    edges = sorted({(tet[a], tet[b]) for tet in map(sorted, tets) for a in range(4) for b in range(a + 1, 4)})
    rest = [math.dist(vertices[a], vertices[b]) for a, b in edges]
    largest = last = 0.0
    with open(sys.argv[2], encoding="utf-8", newline="") as text:
        rows = csv.reader(text)
        first = next(rows).index("v0_x")
        for row in rows:
            u = [float(number) for number in row[first:]]
            now = [[vertices[v][c] + u[3 * v + c] for c in range(3)] for v in range(len(vertices))]
            last = max(math.dist(now[a], now[b]) / length for (a, b), length in zip(edges, rest)) - 1
            largest = max(largest, last)
    print("%.4f %.4f" % (largest, last))
    return 0


if __name__ == "__main__":
    sys.exit(main())
