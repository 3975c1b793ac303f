#!/usr/bin/env python3
"""Write a grip on the free end of the beam that turns about the beam's axis, as loads (CSV) to standard output.

    python3 grip.py beam.npz > grip.csv

Every vertex of the mesh at the free end hangs on a spring whose anchor starts at the vertex and goes around the axis
y = z = 0, in STEPS steps of 0.01 s up to TURN. A force keeps its direction while the body turns under it, so that a couple
of constant forces cannot turn the end by more than a right angle; a grip can.
"""

import math
import pathlib
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_lines

STEPS, TURN = 54, 272.0  # degrees: the end lags behind by the stiffness of the springs
STIFFNESS = 1e7  # N/m for each vertex; an element has E h = 6e5 N/m


def read_vertices(path):
    with zipfile.ZipFile(path) as archive:
        data = archive.read("vertices.npy")
    start = 10 + struct.unpack("<H", data[8:10])[0]  # behind the header of NumPy's format, version 1
    return list(struct.iter_unpack("<3d", data[start:]))


def main():
    if len(sys.argv) != 2:
        print("usage: grip.py beam.npz > grip.csv", file=sys.stderr)
        return 2
    try:
        vertices = read_vertices(sys.argv[1])
    except (OSError, KeyError, zipfile.BadZipFile, struct.error) as error:
        print(f"grip.py: {sys.argv[1]}: {error}", file=sys.stderr)
        return 3
    end = max(x for x, _, _ in vertices)
    lines = ["t0,t1,kind,id,fx,fy,fz,stiffness"]
    for step in range(1, STEPS + 1):
        angle = math.radians(TURN * step / STEPS)
        c, s = math.cos(angle), math.sin(angle)
        for number, (x, y, z) in enumerate(vertices):
            if x > end - 1e-6:
                time = "%.2f,%.2f" % ((step - 1) / 100, step / 100)
                lines.append("%s,spring,%d,%.9g,%.9g,%.9g,%g" % (time, number, x, c * y - s * z, s * y + c * z, STIFFNESS))
    return write_lines(lines)


if __name__ == "__main__":
    sys.exit(main())
