#!/usr/bin/env python3
"""Write the parts of the scene with two hoses as Wavefront OBJ in metres to standard output.

    python3 model.py hoses > hoses.obj
    python3 model.py part > part.obj

Two corrugated hoses of 1 m run along x side by side, the upper one bent like a U, and end in sleeves on two plates. The
part is turned from metal: a disk of 14 cm with a rounded rim on a stem with a pointed foot, which has to pass between them.
"""

import pathlib
import sys
from math import cos, pi, sin

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import cross, joined, ring_surface, write_obj

AROUND = 32
LENGTH, RADIUS, RIPPLE = 1.0, 0.035, 0.0025  # m; 40 ripples
HOSES = ((-0.070, 0.00, 0.02), (0.070, 0.10, -0.02))  # y of the middle, how far it hangs up (z) and aside (y) at midspan
PROFILE = [  # (r, z) of the part from the tip of its foot to its top
    (0.0, -0.16), (0.008, -0.155), (0.014, -0.14), (0.018, -0.09), (0.022, -0.05), (0.035, -0.025), (0.055, -0.012), (0.066, -0.006), (0.070, 0.002),
    (0.066, 0.010), (0.055, 0.014), (0.030, 0.018), (0.020, 0.026), (0.018, 0.06), (0.024, 0.064), (0.024, 0.078), (0.0, 0.080),
]  # fmt: skip


def hose(middle, up, aside):
    count = 480

    def centre(s):
        arch = sin(pi * s) ** 2
        return (LENGTH * (s - 0.5), middle + aside * arch, up * arch)

    yield [centre(0.0)]
    for i in range(count + 1):
        s = i / count
        x, y, z = centre(s)
        a, b = centre(max(s - 1e-4, 0.0)), centre(min(s + 1e-4, 1.0))
        t = [q - p for p, q in zip(a, b)]
        size = sum(c * c for c in t) ** 0.5
        t = [c / size for c in t]
        n = [0.0 - t[0] * t[1], 1.0 - t[1] * t[1], 0.0 - t[2] * t[1]]
        size = sum(c * c for c in n) ** 0.5
        n = [c / size for c in n]
        m = cross(t, n)
        r = RADIUS + RIPPLE * cos(80 * pi * s)
        yield [tuple(p + r * (cos(2 * pi * k / AROUND) * u + sin(2 * pi * k / AROUND) * w) for p, u, w in zip((x, y, z), n, m)) for k in range(AROUND)]
    yield [centre(1.0)]


def box(low, high):
    vertices = [(x, y, z) for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])]
    return vertices, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def main():
    if sys.argv[1:] not in (["hoses"], ["part"]):
        print("usage: model.py hoses|part > out.obj", file=sys.stderr)
        return 2
    if sys.argv[1] == "part":
        turned = [[(r * cos(2 * pi * k / AROUND), r * sin(2 * pi * k / AROUND), z) for k in range(AROUND if r > 0 else 1)] for r, z in PROFILE]
        parts = [ring_surface(turned)]
    else:
        parts = [ring_surface(hose(middle, up, aside)) for middle, up, aside in HOSES]
        for side in (-1, 1):
            ends = sorted((side * 0.46, side * 0.51))
            parts.append(box((ends[0], -0.14, -0.06), (ends[1], 0.14, 0.06)))
    return write_obj([joined(parts)], number="%.7g")


if __name__ == "__main__":
    sys.exit(main())
