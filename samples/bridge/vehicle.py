#!/usr/bin/env python3
"""Write the loads CSV of a vehicle that crosses the bridge of model.py in 2 s, to standard output.

    python3 vehicle.py > vehicle.csv

It drives from x = 0 to 20 in the right lane, a quarter of the road's width off its middle, and pulses as it goes: its weight
swings between 0 and twice its mean at 2.7 Hz, near the second mode of the bridge, the deck's vertical one.
"""

import math
import sys

WEIGHT = 400000.0  # N, mean
PULSE = 2.7  # Hz
SPEED = 10.0  # m/s
# The girder is the model's first part: 101 cross-sections 0.2 m apart with 6 vertices, 1 and 2 of which are the road's left and right edge.
SECTIONS, SPACING, RING, EDGES = 101, 0.2, 6, ((1, 0.25), (2, 0.75))


def main():
    if len(sys.argv) > 1:
        print("usage: vehicle.py > vehicle.csv", file=sys.stderr)
        return 2
    print("t0,t1,kind,id,fx,fy,fz")
    duration = SPACING / SPEED
    for section in range(SECTIONS - 1):
        start, end = section * duration, (section + 1) * duration
        force = WEIGHT * (1.0 - math.cos(2.0 * math.pi * PULSE * 0.5 * (start + end)))
        # While it drives from one section to the next, each carries half of it in the mean.
        for vertex in (RING * section, RING * (section + 1)):
            for corner, share in EDGES:
                print("%.4g,%.4g,surface,%d,0,0,%.6g" % (start, end, vertex + corner, -0.5 * share * force))
    return 0


if __name__ == "__main__":
    sys.exit(main())
