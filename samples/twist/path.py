#!/usr/bin/env python3
"""Write how the end of the bar of 10 cm is moved, as poses over time in CSV: compressed, stretched, bent, twisted, each quickly and then held.

    python3 path.py > path.csv
"""

import math
import sys

END = (0.1, 0.0, 0.0)  # m, the centre of the end at rest; the other end is at the origin
# Until t (s): displacement of that centre (m), bend about y and twist about x (degrees).
KEYS = (
    (0.0, (0.0, 0.0, 0.0), 0.0, 0.0),
    (0.2, (-0.02, 0.0, 0.0), 0.0, 0.0),  # compressed
    (0.5, (-0.02, 0.0, 0.0), 0.0, 0.0),
    (0.8, (0.04, 0.0, 0.0), 0.0, 0.0),  # stretched
    (1.1, (0.04, 0.0, 0.0), 0.0, 0.0),
    (1.4, (-0.015, 0.0, -0.04), 75.0, 0.0),  # bent
    (1.7, (-0.015, 0.0, -0.04), 75.0, 0.0),
    (2.0, (0.01, 0.0, 0.0), 0.0, 0.0),  # straightened
    (2.3, (0.01, 0.0, 0.0), 0.0, 0.0),
    (2.4, (0.01, 0.0, 0.0), 0.0, 150.0),  # twisted
    (3.0, (0.01, 0.0, 0.0), 0.0, 150.0),
)
STEP = 0.0025


def pose(t):
    for (a, d, bend, twist), (b, e, bent, twisted) in zip(KEYS, KEYS[1:]):
        if t <= b:
            break
    s = min((t - a) / (b - a), 1.0)
    s = s * s * (3.0 - 2.0 * s)  # no jump of the velocity
    bend, twist = (math.radians(p + s * (q - p)) / 2.0 for p, q in ((bend, bent), (twist, twisted)))
    # about x by `twist`, then about y by `bend`: as a quaternion, and what it does to END, which lies on x
    q = (math.cos(bend) * math.cos(twist), math.cos(bend) * math.sin(twist), math.sin(bend) * math.cos(twist), -math.sin(bend) * math.sin(twist))
    turned = (END[0] * math.cos(2.0 * bend), 0.0, -END[0] * math.sin(2.0 * bend))
    return [c + p + s * (r - p) - u for c, p, r, u in zip(END, d, e, turned)] + list(q)


def main():
    if len(sys.argv) != 1:
        print("usage: path.py > path.csv", file=sys.stderr)
        return 2
    print("t,x,y,z,qw,qx,qy,qz")
    for n in range(round(KEYS[-1][0] / STEP) + 1):
        print(",".join("%.9g" % v for v in [n * STEP] + pose(n * STEP)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
