#!/usr/bin/env python3
"""Write the head's box as Wavefront OBJ, how it is shaken as a path, or its bone as a skeleton, to standard output.

    python3 model.py box > head.obj
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
from soup import write_lines

LOW, HIGH = (0.0, -0.1, -0.1), (0.3, 0.1, 0.1)
AXIS = 0.025  # z of the axis
LARGEST, RATE, UNTIL, STEP = 15.0, 2.5, 4.0, 0.01  # degrees, Hz, s, s
ARM = 0.3  # from the axis to where the spring holds the core


def turn(t):
    return math.radians(LARGEST) * math.sin(2 * math.pi * RATE * t)


def times():
    return [STEP * i for i in range(round(UNTIL / STEP) + 1)]


def box():
    lines = ["v %g %g %g" % (x, y, z) for x in (LOW[0], HIGH[0]) for y in (LOW[1], HIGH[1]) for z in (LOW[2], HIGH[2])]
    return lines + ["f %d %d %d" % f for f in ((1, 2, 4), (1, 4, 3), (5, 8, 6), (5, 7, 8), (1, 6, 2), (1, 5, 6), (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4))]


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
    made = {"box": box, "turn": lambda: path(pose), "hand": lambda: path(hand), "bone": bone}
    if len(sys.argv) != 2 or sys.argv[1] not in made:
        print("usage: model.py box|turn|hand|bone", file=sys.stderr)
        return 2
    return write_lines(made[sys.argv[1]]())


if __name__ == "__main__":
    sys.exit(main())
