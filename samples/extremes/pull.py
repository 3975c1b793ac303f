#!/usr/bin/env python3
"""Write a pull at the tip of the spoon that bends it back over its handle, as loads (CSV) to standard output.

    python3 pull.py FORCE ANGLE > pull.csv

In STEPS steps of 0.01 s the force grows to FORCE (N) and turns by ANGLE (degrees) from straight up, +z, towards -x.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_lines

TIP = 3320  # vertex of the model, counted from 0
STEPS = 20


def main():
    try:
        largest, turn = (float(word) for word in sys.argv[1:])
    except ValueError:
        print("usage: pull.py FORCE ANGLE > pull.csv", file=sys.stderr)
        return 2
    lines = ["t0,t1,kind,id,fx,fy,fz"]
    for step in range(1, STEPS + 1):
        force, angle = largest * (step / STEPS) ** 1.5, math.radians(turn * step / STEPS)
        time = "%.2f,%.2f" % ((step - 1) / 100, step / 100)
        lines.append("%s,surface,%d,%.1f,0,%.1f" % (time, TIP, -force * math.sin(angle), force * math.cos(angle)))
    return write_lines(lines)


if __name__ == "__main__":
    sys.exit(main())
