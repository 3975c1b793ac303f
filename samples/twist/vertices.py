#!/usr/bin/env python3
"""Print places in the bar of 10 x 3 x 3 cm as simfull --dynamic near: takes them, N of them evenly between its ends.

    python3 vertices.py N

Up to 4 they are on its axis, else at the four corners of N / 4 slices.
"""

import sys


def main():
    if len(sys.argv) != 2:
        print("usage: vertices.py N", file=sys.stderr)
        return 2
    count = int(sys.argv[1])
    across = [(0.0, 0.0)] if count <= 4 else [(y, z) for y in (-0.015, 0.015) for z in (-0.015, 0.015)]
    slices = count // len(across)
    print(";".join("%.4f,%g,%g" % (0.1 * (k + 1) / (slices + 1), y, z) for k in range(slices) for y, z in across))
    return 0


if __name__ == "__main__":
    sys.exit(main())
