#!/usr/bin/env python3
"""Write what somebody does who sketches with the spoon, as loads (CSV) to standard output.

    python3 sketch.py > sketch.csv

The tip is pulled away from rest in 25 strokes, one in each direction across the handle, 14.4 degrees apart, each recorded
at 14 places: 350 samples. The force grows as the power 1.8 of the way, so that the samples of a stroke are about evenly
far apart though the spoon stiffens; the longest pulls bend it as far as the push of impulse.csv does.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_lines

TIP = 3320  # vertex of the model, counted from 0
STROKES, PLACES = 25, 14
LARGEST = 9000.0  # N
INTERVAL = 0.01  # s, between two samples


def main():
    if len(sys.argv) > 1:
        print("usage: sketch.py > sketch.csv", file=sys.stderr)
        return 2
    lines = ["t0,t1,kind,id,fx,fy,fz"]
    for stroke in range(STROKES):
        angle = 2.0 * math.pi * stroke / STROKES  # from straight up, +z, towards +y
        for place in range(PLACES):
            sample = stroke * PLACES + place
            force = LARGEST * ((place + 1) / PLACES) ** 1.8
            y, z = force * math.sin(angle), force * math.cos(angle)
            lines.append("%.2f,%.2f,surface,%d,0,%.1f,%.1f" % (sample * INTERVAL, (sample + 1) * INTERVAL, TIP, y, z))
    return write_lines(lines)


if __name__ == "__main__":
    sys.exit(main())
