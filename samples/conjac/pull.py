#!/usr/bin/env python3
"""Write the loads of the pulled dragon as CSV: the jaws are pulled apart and the back aside, then all is let go at once.

    python3 pull.py RAMP RELEASE FACTOR > pull.csv

The forces, each in total on its region and times FACTOR, grow in equal parts until RAMP (s), stay until RELEASE, and end there.
"""

import sys

FORCES = {"upper": (0.0, 0.0, 0.8), "lower": (0.0, 0.0, -0.6), "back": (0.0, 3.4, 2.0)}  # N
PARTS = 20


def main():
    if len(sys.argv) != 4:
        print("usage: pull.py RAMP RELEASE FACTOR > pull.csv", file=sys.stderr)
        return 2
    ramp, release, factor = (float(word) for word in sys.argv[1:])
    print("t0,t1,kind,id,fx,fy,fz")
    for part in range(PARTS):
        begin, end = ramp * part / PARTS, release if part == PARTS - 1 else ramp * (part + 1) / PARTS
        for region, force in FORCES.items():
            print("%g,%g,region,%s,%s" % (begin, end, region, ",".join("%g" % (factor * f * (part + 1) / PARTS) for f in force)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
