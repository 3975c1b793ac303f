#!/usr/bin/env python3
"""Writes a bunny as an OBJ: ellipsoids that stick into one another, m, as large as fits on a table, its lowest point at z = HEIGHT.

    python3 model.py HEIGHT AXIS DEGREES >bunny.obj
    python3 model.py HEIGHT AXIS DEGREES dynamic     places of the dynamic vertices for simfull --dynamic
    python3 model.py HEIGHT AXIS DEGREES MODEL.obj   another model, 0.12 m high, y up, in place of this one

It is turned about AXIS (x, y or z) by DEGREES before; it looks along x, and z is up.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import ellipsoid, joined, mirrored, turned, write_obj

# centre, radii, and by how many degrees it is turned about y; with True also mirrored in y
PARTS = [
    ((-0.012, 0, 0.040), (0.043, 0.033, 0.036), -20, False),        # body
    ((0.020, 0, 0.045), (0.026, 0.025, 0.028), 0, False),           # chest
    ((0.036, 0, 0.077), (0.026, 0.021, 0.021), 15, False),          # head
    ((0.056, 0, 0.070), (0.011, 0.011, 0.009), 0, False),           # muzzle
    ((0.022, 0.012, 0.112), (0.006, 0.0095, 0.030), -14, True),     # ears
    ((-0.020, 0.027, 0.026), (0.027, 0.014, 0.024), 0, True),       # thighs
    ((0.000, 0.030, 0.008), (0.025, 0.011, 0.008), 0, True),        # hind feet
    ((0.033, 0.014, 0.024), (0.010, 0.010, 0.022), -8, True),       # forelegs
    ((0.041, 0.014, 0.007), (0.013, 0.009, 0.007), 0, True),        # paws
    ((-0.057, 0, 0.040), (0.013, 0.013, 0.013), 0, False),          # tail
]
# One dynamic vertex in each ear, paw and hind foot; the head and the rump.
DYNAMIC = [(0.017, 0.012, 0.130), (0.017, -0.012, 0.130), (0.044, 0.014, 0.008), (0.044, -0.014, 0.008), (0.010, 0.030, 0.008), (0.010, -0.030, 0.008), (0.038, 0, 0.078), (-0.028, 0, 0.042)]


def own_model():
    parts = []
    for centre, radii, degrees, both in PARTS:
        part = ellipsoid(centre, radii, degrees)
        parts += [part, mirrored(part)] if both else [part]
    return joined(parts)


def other_model(path):
    vertices, triangles = [], []
    with open(path) as lines:
        for words in map(str.split, lines):
            if words and words[0] == "v":
                x, y, z = map(float, words[1:4])
                vertices.append((x, -z, y))
            elif words and words[0] == "f":
                corner = [int(w.split("/")[0]) - 1 for w in words[1:]]
                triangles += [(corner[0], a, b) for a, b in zip(corner[1:], corner[2:])]
    low = min(v[2] for v in vertices)
    scale = 0.12 / (max(v[2] for v in vertices) - low)
    return [[scale * c for c in v] for v in vertices], triangles


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[2] not in ("x", "y", "z"):
        sys.exit("usage: model.py HEIGHT x|y|z DEGREES [dynamic|MODEL.obj]")
    height, axis, degrees = float(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    last = sys.argv[4] if len(sys.argv) == 5 else ""
    vertices, triangles = other_model(last) if last.endswith(".obj") else own_model()
    vertices = [turned(v, axis, degrees) for v in vertices]
    up = height - min(v[2] for v in vertices)
    if last == "dynamic":
        places = [turned(p, axis, degrees) for p in DYNAMIC]
        print("near:" + ";".join("%.5f,%.5f,%.5f" % (x, y, z + up) for x, y, z in places))
        return 0
    return write_obj([([(x, y, z + up) for x, y, z in vertices], triangles)], "bunny, m")


if __name__ == "__main__":
    sys.exit(main())
