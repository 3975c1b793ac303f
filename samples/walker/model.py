"""The surface of the walker, as Wavefront OBJ on standard output: ellipsoids and capsules that stick into one another."""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import soup


def capsule(a, b, radius_a, radius_b, rings=14, around=20):
    """A sphere about either end, and the cone between them."""
    axis = soup.unit([q - p for p, q in zip(a, b)])
    side = soup.unit(soup.cross(axis, (0, 1, 0) if abs(axis[1]) < 0.9 else (1, 0, 0)))
    third = soup.cross(axis, side)
    circles = [[tuple(p - radius_a * x for p, x in zip(a, axis))]]
    for i in range(1, rings):
        u = math.pi * i / rings
        centre, radius = (a, radius_a) if 2 * i <= rings else (b, radius_b)
        circles.append([tuple(c + radius * (math.sin(u) * (math.cos(v) * s + math.sin(v) * t) - math.cos(u) * x) for c, s, t, x in zip(centre, side, third, axis))
                        for v in (2 * math.pi * k / around for k in range(around))])
    circles.append([tuple(p + radius_b * x for p, x in zip(b, axis))])
    return soup.ring_surface(circles)


parts = [
    soup.ellipsoid((0, 0, 0.86), (0.20, 0.24, 0.17)),
    soup.ellipsoid((0.07, 0, 1.03), (0.31, 0.30, 0.26)),
    soup.ellipsoid((0, 0, 1.28), (0.21, 0.27, 0.20)),
    capsule((0, 0, 1.40), (0, 0, 1.52), 0.10, 0.10),
    soup.ellipsoid((0.03, 0, 1.63), (0.16, 0.15, 0.17)),
]
for sign in (1, -1):
    parts += [
        capsule((0, 0.25 * sign, 1.34), (0, 0.50 * sign, 1.10), 0.10, 0.08),
        capsule((0, 0.50 * sign, 1.10), (0.03, 0.66 * sign, 0.86), 0.08, 0.065),
        capsule((0.03, 0.66 * sign, 0.86), (0.05, 0.71 * sign, 0.78), 0.075, 0.07),
        capsule((0, 0.15 * sign, 0.82), (0, 0.17 * sign, 0.46), 0.125, 0.095),
        capsule((0, 0.17 * sign, 0.46), (-0.01, 0.18 * sign, 0.11), 0.095, 0.075),
        capsule((-0.04, 0.18 * sign, 0.07), (0.16, 0.19 * sign, 0.06), 0.07, 0.06),
    ]

if __name__ == "__main__":
    sys.exit(soup.write_obj(parts, "a soft walker"))
