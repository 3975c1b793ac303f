#!/usr/bin/env python3
"""Write the loads of the bending comparison to standard output: a force on the head that turns in the plane x = const.

    python3 circle.py NEWTONS SECONDS TURNS STEPS > circle.csv

It begins to the side, turns upward, takes SECONDS for a turn of STEPS pieces, and grows to NEWTONS in the first half turn.
"""

import math
import sys


def main():
    try:
        force, period, turns, steps = (float(word) for word in sys.argv[1:])
    except ValueError:
        print("usage: circle.py NEWTONS SECONDS TURNS STEPS > circle.csv", file=sys.stderr)
        return 2
    print("t0,t1,kind,id,fx,fy,fz")
    for i in range(round(turns * steps)):
        turn = (i + 0.5) / steps
        size, angle = force * min(1.0, 2.0 * turn), 2.0 * math.pi * turn
        times = i * period / steps, (i + 1) * period / steps
        print("%.9g,%.9g,region,head,0,%.6g,%.6g" % (*times, size * math.cos(angle), size * math.sin(angle)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
