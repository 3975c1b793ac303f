#!/usr/bin/env python3
"""Write how the hand moves one alpha into the other as a path on standard output, and the sizes of the puzzle as a comment.

    python3 hand.py WOBBLE > hand.csv

Two coaxial helices of one pitch, half a pitch apart, never touch while one is screwed along the axis: so the moving alpha is
screwed from above, until it lies in the other, turned by half a turn. The hand strays from that by WOBBLE m and as many rad.
"""

import math
import sys

import model

FIRST = 7.6  # rad, where the two are apart
LAST = -math.pi
SECONDS = 12.0
STEPS = 1200


def product(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def main():
    if len(sys.argv) != 2:
        print("usage: hand.py WOBBLE > hand.csv", file=sys.stderr)
        return 2
    wobble = float(sys.argv[1])
    line = model.middle_line(201)
    rise = model.PITCH / (2.0 * math.pi)
    gap = min(math.dist(p, q) for p in line[:67] for q in line[134:]) - 2 * model.TUBE
    near = 1e9
    for k in range(41):
        angle = FIRST + (LAST - FIRST) * k / 40
        c, s = math.cos(angle), math.sin(angle)
        moved = [(c * x - s * y, s * x + c * y, z + rise * angle + 0.5 * model.PITCH) for x, y, z in line[::2]]
        near = min(near, min(math.dist(p, q) for p in moved for q in line[::2]))
    print("# tube %.3f m, gap %.3f m, least room along the screw %.4f m" % (2 * model.TUBE, gap, near - 2 * model.TUBE))
    print("t,x,y,z,qw,qx,qy,qz")
    for step in range(STEPS + 1):
        part = step / STEPS
        angle = FIRST + (LAST - FIRST) * part
        # It strays not at both ends, and in directions whose periods have no common one.
        stray = [wobble * math.sin(math.pi * part) * math.sin(t * SECONDS * part + k) for k, t in enumerate((3.1, 4.3, 5.7, 2.3, 3.7))]
        rotation = (math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2))
        rotation = product((1.0, stray[3] / 2, stray[4] / 2, 0.0), rotation)
        place = (stray[0], stray[1], stray[2] + rise * angle + 0.5 * model.PITCH)
        print("%.3f,%.5f,%.5f,%.5f,%.6f,%.6f,%.6f,%.6f" % (SECONDS * part, *place, *rotation))
    return 0


if __name__ == "__main__":
    sys.exit(main())
