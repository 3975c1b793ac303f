#!/usr/bin/env python3
"""The equilibrium of a beam in domains beside that of the full-order model of the whole beam, as a line of a table.

    python3 bent.py FOLDER MESH FULL WIDTH DOMAINS-R MOTION

FULL and MOTION are at rest in their last frames. Printed are the angle by which the end of the full-order beam has turned, the root
mean square of the differences of positions over all vertices, relative to that of the displacements, and the largest distance of two
copies of a vertex, divided by the width.
"""
import math
import sys
import zipfile

from motion import domains, frames, read, whole


def last(rows):
    for row in rows:
        pass
    return row


def turned(X, u):
    """The angle about y of the end of the beam."""
    end = max(X[::3])
    tip = [v for v in range(len(X) // 3) if X[3 * v] == end]

    def middle(z):
        side = [v for v in tip if X[3 * v + 2] == z]
        return [sum(X[3 * v + a] + u[3 * v + a] for v in side) / len(side) for a in range(3)]

    heights = [X[3 * v + 2] for v in tip]
    top, bottom = middle(max(heights)), middle(min(heights))
    return math.degrees(math.atan2(abs(top[0] - bottom[0]), top[2] - bottom[2]))


def main():
    folder, mesh, full, width, name, path = sys.argv[1:]
    X = read(zipfile.ZipFile(mesh), "vertices")[1]
    u = last(frames(full, ["u"]))[0]
    kept, motion = domains(folder, name, path)
    seen, gap = whole(kept, last(motion)[2])
    error = sum((x[a] - X[3 * v + a] - u[3 * v + a]) ** 2 for v, (x, _) in seen.items() for a in range(3))
    count, r = (int(n) for n in name.split("-"))
    print("%7d  %2d   %6.1f   %12.2f %%   %9.2f %%" %
          (count, r, turned(X, u), 100 * math.sqrt(error / sum(c * c for c in u)), 100 * gap / float(width)))


main()
