#!/usr/bin/env python3
"""Write a dog's head or its core as Wavefront OBJ, how it is shaken as a path, or its bone as a skeleton, to standard output.

    python3 model.py head > head.obj          ellipsoids that stick into one another; it looks along x
    python3 model.py core > core.obj          the box of the core
    python3 model.py turn > turn.csv          the turns of the core, a rigid motion about the axis
    python3 model.py hand > hand.csv          a point that goes to and fro, for the spring that pulls the core
    python3 model.py bone > bone.json         the core on that axis, pulled by the spring

The axis is along x through y = 0, z = 0.025; all lengths in m.
"""

import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import ellipsoid, joined, mirrored, write_lines, write_obj

LOW, HIGH = (0.05, -0.05, 0.0), (0.25, 0.05, 0.05)  # of the core
# centre, radii, rotation about y in degrees, and whether there is a mirror image at -y
HEAD = [
    ((0.110, 0, 0.030), (0.110, 0.082, 0.068), 0, False),  # skull
    ((0.215, 0, 0.004), (0.085, 0.052, 0.048), 8, False),  # muzzle
    ((0.195, 0.038, -0.045), (0.062, 0.024, 0.050), 0, True),  # jowls
    ((0.125, 0, -0.045), (0.065, 0.045, 0.055), 0, False),  # dewlap
    ((0.090, 0.082, 0.052), (0.034, 0.042, 0.026), 0, True),  # roots of the ears
    ((0.090, 0.112, 0.018), (0.036, 0.018, 0.052), 10, True),  # ears
    ((0.196, 0.037, 0.050), (0.012, 0.012, 0.012), 0, True),  # eyes
    ((0.292, 0, 0.010), (0.014, 0.022, 0.015), 0, False),  # nose
]
AXIS = 0.025  # z of the axis
LARGEST, RATE, UNTIL, STEP = 15.0, 2.5, 4.0, 0.01  # degrees, Hz, s, s
ARM = 0.3  # from the axis to where the spring holds the core


def turn(t):
    return math.radians(LARGEST) * math.sin(2 * math.pi * RATE * t)


def times():
    return [STEP * i for i in range(round(UNTIL / STEP) + 1)]


def head():
    parts = []
    for centre, radii, degrees, both in HEAD:
        part = ellipsoid(centre, radii, degrees)
        parts += [part, mirrored(part)] if both else [part]
    return write_obj([joined(parts)], "head of a dog, m")


def core():
    lines = ["v %g %g %g" % (x, y, z) for x in (LOW[0], HIGH[0]) for y in (LOW[1], HIGH[1]) for z in (LOW[2], HIGH[2])]
    return write_lines(lines + ["f %d %d %d" % f for f in ((1, 2, 4), (1, 4, 3), (5, 8, 6), (5, 7, 8), (1, 6, 2), (1, 5, 6), (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4))])


def path(to_pose):
    return ["t,x,y,z,qw,qx,qy,qz"] + ["%.4f,%.9f,%.9f,%.9f,%.12f,%.12f,0,0" % ((t,) + to_pose(turn(t))) for t in times()]


def pose(a):
    """A turn by a about the axis: the origin goes around it too."""
    return 0.0, math.sin(a) * AXIS, AXIS - math.cos(a) * AXIS, math.cos(a / 2), math.sin(a / 2)


def hand(a):
    return 0.15, -math.sin(a) * ARM, AXIS + math.cos(a) * ARM, 1.0, 0.0


def bone():
    return [json.dumps({"bones": [{"name": "skull", "joint": "revolute", "at": [0, 0, AXIS], "axis": [1, 0, 0], "damping": 0.5, "regions": ["core"]}],
                        "springs": [{"bone": "skull", "at": [0.15, 0, AXIS + ARM], "stiffness": 2000, "path": "hand.csv"}]})]


def main():
    made = {
        "head": head,
        "core": core,
        "turn": lambda: write_lines(path(pose)),
        "hand": lambda: write_lines(path(hand)),
        "bone": lambda: write_lines(bone()),
    }
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        print("usage: model.py head|core|turn|hand|bone", file=sys.stderr)
        return 2
    return made[sys.argv[1]]()


if __name__ == "__main__":
    sys.exit(main())
