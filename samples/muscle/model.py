#!/usr/bin/env python3
"""Writes an arm of two bones and a muscle as an OBJ with the groups humerus, ulna and muscle, m; at rest the elbow, at the origin, is bent
by 90 degrees: the humerus along z, the ulna along x, and the muscle parallel to the humerus from a shelf at its head to the ulna.

    python3 model.py >arm.obj
    python3 model.py fibres MESH.npz >fibre.npy

The second writes the direction of the fibres of each tetrahedron of the mesh made of it: along the muscle, following its spindle.
"""
import array
import ast
import math
import pathlib
import struct
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_obj

AXIS = 0.036                # x of the muscle's axis
LOW, HIGH = -0.006, 0.128   # z of its ends, inside the bones
BELLY, TENDON = 0.018, 0.0052
RING = 24


def radius(z):
    """Of the muscle: tendons that widen into a belly."""
    s = min(max((z - 0.016) / (0.106 - 0.016), 0.0), 1.0)
    return TENDON + (BELLY - TENDON) * math.sin(math.pi * s) ** 1.5


def tube(sections, across):
    """A closed tube around the points of sections, (centre, radius); across: two unit vectors across it, right-handed with its direction."""
    u, w = across
    vertices, triangles = [], []
    for c, r in sections:
        for k in range(RING):
            a, b = r * math.cos(2 * math.pi * k / RING), r * math.sin(2 * math.pi * k / RING)
            vertices.append([c[i] + a * u[i] + b * w[i] for i in range(3)])
    last = len(vertices) - RING
    for s in range(0, last, RING):
        for k in range(RING):
            n = (k + 1) % RING
            triangles += [(s + k, s + n, s + RING + n), (s + k, s + RING + n, s + RING + k)]
    for end, flip in ((0, True), (last, False)):
        centre = len(vertices)
        vertices.append(list(sections[0 if flip else -1][0]))
        for k in range(RING):
            pair = (end + k, end + (k + 1) % RING)
            triangles.append((centre, pair[1], pair[0]) if flip else (centre, pair[0], pair[1]))
    return vertices, triangles


def bone(start, end, thickness, knob):
    """From start to end along an axis, thicker at its round ends."""
    length = math.dist(start, end)
    along = [(b - a) / length for a, b in zip(start, end)]
    across = ([0, 1, 0], [-1, 0, 0]) if abs(along[2]) > 0.5 else ([0, 1, 0], [0, 0, 1])
    sections = []
    for k in range(41):
        s = k / 40
        d = min(s, 1 - s) * length
        r = thickness + (knob - thickness) * math.exp(-(d / knob) ** 2)
        if d < knob:
            r *= math.sqrt(max(1 - (1 - d / knob) ** 2, 0.02))
        sections.append(([a + s * (b - a) for a, b in zip(start, end)], r))
    return tube(sections, across)


def arm():
    steps = 60
    muscle = tube([([AXIS, 0, LOW + (HIGH - LOW) * k / steps], radius(LOW + (HIGH - LOW) * k / steps)) for k in range(steps + 1)], ([1, 0, 0], [0, 1, 0]))
    return {
        "humerus": [bone((0, 0, 0.011), (0, 0, 0.142), 0.006, 0.0085), bone((-0.004, 0, 0.132), (0.048, 0, 0.132), 0.007, 0.008)],
        "ulna": [bone((-0.008, 0, -0.009), (0.135, 0, -0.009), 0.006, 0.0075)],
        "muscle": [muscle],
    }


def read(file, name):
    data = file.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    return head["shape"], array.array({"<f8": "d", "<i8": "q", "|u1": "B"}[head["descr"]], data[10 + length:])


def write_fibres(path):
    """Where the spindle has the radius R, a fibre at the distance r from the axis runs at r/R of it: its slope is r R'/R."""
    import json
    with zipfile.ZipFile(path) as file:
        _, x = read(file, "vertices")
        (count, _), corner = read(file, "tet")
        _, region = read(file, "region")
        materials = json.loads(file.read("meta.npy")[10:].split(b"\n", 1)[1])["materials"]
    fibrous = [m.get("fibre", "none") != "none" for m in materials]
    directions = array.array("d")
    for e in range(count):
        if not fibrous[region[e]]:
            directions.extend((0, 0, 0))
            continue
        px, py, z = (sum(x[3 * v + a] for v in corner[4 * e:4 * e + 4]) / 4 for a in range(3))
        step = 1e-4
        slope = (radius(z + step) - radius(z - step)) / (2 * step * radius(z))
        d = ((px - AXIS) * slope, py * slope, 1.0)
        length = math.hypot(*d)
        directions.extend(c / length for c in d)
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 3), }" % count
    head += " " * (-(len(head) + 11) % 64) + "\n"
    sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + directions.tobytes())


if __name__ == "__main__":
    if sys.argv[1:2] == ["fibres"] and len(sys.argv) == 3:
        write_fibres(sys.argv[2])
    elif len(sys.argv) == 1:
        write_obj(arm(), "an arm, m")
    else:
        sys.exit("usage: model.py >arm.obj, or model.py fibres MESH.npz >fibre.npy")
