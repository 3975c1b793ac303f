#!/usr/bin/env python3
"""Write a path of the hand, t,x,y,z,qw,qx,qy,qz every 10 ms.

    python3 path.py slide > slide.csv    the body with bumps down onto a rail of the bridge and across it, in 4 s
    python3 path.py press > press.csv    a ball down onto the deck, along it, against the hangers and up, in 4 s
"""

import sys
from math import pi, sin

# Of the bridge of ../bridge at a tenth of its size, with the offset of its pointshell: a rail between two hangers, and the deck at midspan.
RAIL_X, RAIL_Y, RAIL_TOP = 0.725, 0.067, 0.2537
DECK_TOP, BALL = 0.2065, 0.04


def smooth(t, start, end):
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def slide(t):
    """The level part of the underside 2.5 mm above the rail's top, from one end to the other at 39 mm/s."""
    along = min(max((t - 0.6) / 3.0, 0.0), 1.0)
    lift = 0.03 * (1.0 - smooth(t, 0.0, 0.5)) + 0.03 * smooth(t, 3.7, 4.0)
    return RAIL_X, RAIL_Y + 0.058 - 0.116 * along, RAIL_TOP + 0.0025 + lift


def press(t):
    x = 1.0 - 0.25 * smooth(t, 1.4, 2.2)
    y = 0.06 * sin(2 * pi * (t - 2.2)) * smooth(t, 2.2, 2.5) * (1.0 - smooth(t, 3.0, 3.2))
    return x, y, DECK_TOP + BALL + 0.08 - 0.18 * smooth(t, 0.1, 1.0) + 0.06 * smooth(t, 2.0, 2.3) + 0.20 * smooth(t, 3.2, 3.9)


def main():
    if sys.argv[1:] not in (["slide"], ["press"]):
        print("usage: path.py slide|press > out.csv", file=sys.stderr)
        return 2
    place = slide if sys.argv[1] == "slide" else press
    print("t,x,y,z,qw,qx,qy,qz")
    for i in range(401):
        print("%g,%.9g,%.9g,%.9g,1,0,0,0" % (0.01 * i, *place(0.01 * i)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
