#!/usr/bin/env python3
"""Write the model of a dragon, 2.7 m long, as Wavefront OBJ to standard output.

    python3 model.py > dragon.obj

It stands on the ground z = 0 on four feet, its head towards -x with the mouth open, its back arched between chest and hips,
its tail raised; symmetric in y but for the tail. The surface is a soup of closed parts that stick into one another. Vertex 0
is the tip of the upper jaw; the first line of the file also names the vertex at the top of the back.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import cross, mirrored, unit, write_obj

# Curves: control points (x, y, z, half width, half height), m. The sections stand square to the curve, their width along y.
BODY = (  # from the nape over neck, chest, back and hips to the tail
    (-0.88, 0.00, 1.34, 0.105, 0.100),
    (-0.70, 0.00, 1.28, 0.120, 0.115),
    (-0.60, 0.00, 1.08, 0.125, 0.120),
    (-0.70, 0.00, 0.82, 0.145, 0.150),
    (-0.76, 0.00, 0.56, 0.175, 0.180),
    (-0.62, 0.00, 0.36, 0.185, 0.175),
    (-0.36, 0.00, 0.42, 0.160, 0.155),
    (-0.16, 0.00, 0.72, 0.140, 0.140),
    (0.10, 0.00, 1.00, 0.135, 0.135),
    (0.40, 0.00, 0.92, 0.140, 0.140),
    (0.56, 0.00, 0.60, 0.165, 0.160),
    (0.75, 0.00, 0.34, 0.175, 0.165),
    (0.98, 0.02, 0.27, 0.135, 0.130),
    (1.18, 0.05, 0.38, 0.105, 0.100),
    (1.25, 0.08, 0.60, 0.085, 0.080),
    (1.15, 0.10, 0.80, 0.065, 0.060),
    (1.14, 0.11, 0.96, 0.045, 0.045),
)
UPPER_JAW = (  # from the skull to the nose
    (-0.76, 0.00, 1.36, 0.100, 0.100),
    (-0.87, 0.00, 1.42, 0.160, 0.150),
    (-0.99, 0.00, 1.44, 0.155, 0.130),
    (-1.12, 0.00, 1.435, 0.130, 0.100),
    (-1.23, 0.00, 1.43, 0.115, 0.085),
    (-1.32, 0.00, 1.43, 0.105, 0.080),
    (-1.38, 0.00, 1.43, 0.065, 0.050),
)
LOWER_JAW = (
    (-0.82, 0.00, 1.27, 0.100, 0.090),
    (-0.95, 0.00, 1.21, 0.120, 0.080),
    (-1.08, 0.00, 1.14, 0.110, 0.070),
    (-1.20, 0.00, 1.09, 0.095, 0.060),
    (-1.27, 0.00, 1.07, 0.055, 0.040),
)
FORELEG = (  # of the side y > 0, from the shoulder to the ankle
    (-0.52, 0.12, 0.48, 0.080, 0.110),
    (-0.44, 0.25, 0.40, 0.085, 0.105),
    (-0.42, 0.30, 0.26, 0.070, 0.085),
    (-0.52, 0.31, 0.14, 0.060, 0.065),
    (-0.58, 0.31, 0.04, 0.060, 0.065),
)
HINDLEG = (
    (0.66, 0.10, 0.46, 0.100, 0.140),
    (0.56, 0.25, 0.40, 0.100, 0.140),
    (0.48, 0.31, 0.28, 0.080, 0.105),
    (0.60, 0.32, 0.15, 0.065, 0.075),
    (0.56, 0.32, 0.04, 0.065, 0.070),
)
HORN = (
    (-0.86, 0.08, 1.53, 0.040, 0.040),
    (-0.74, 0.11, 1.61, 0.038, 0.038),
    (-0.58, 0.14, 1.63, 0.028, 0.028),
    (-0.46, 0.15, 1.68, 0.012, 0.012),
)
RING = 16  # vertices of a section of the body


def catmull_rom(points, count):
    """`count` + 1 points of the curve through `points`, evenly spaced in its parameter."""
    curve = []
    for k in range(count + 1):
        place = k * (len(points) - 1) / count
        i = min(int(place), len(points) - 2)
        t = place - i
        a, b, c, d = (points[min(max(i + j, 0), len(points) - 1)] for j in (-1, 0, 1, 2))
        curve.append(
            tuple(
                q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)))
                for p, q, r, s in zip(a, b, c, d)
            )
        )
    return curve


def frame(curve, i):
    """The directions of a section's width, nearest to y, and of its height: the left and upper side of one who walks along."""
    behind, ahead = curve[max(i - 1, 0)], curve[min(i + 1, len(curve) - 1)]
    along = unit([b - a for a, b in zip(behind[:3], ahead[:3])])
    height = unit(cross(along, (0.0, 1.0, 0.0)))
    return cross(height, along), height


def sweep(points, count, ring):
    """A closed tube: the tips of its round ends are the first two vertices, then `count` + 1 sections of `ring` vertices."""
    curve = catmull_rom(points, count)
    sections = []
    for i, (x, y, z, half_width, half_height) in enumerate(curve):
        width, height = frame(curve, i)
        for k in range(ring):
            angle = 2.0 * math.pi * k / ring
            u, v = half_width * math.cos(angle), half_height * math.sin(angle)
            sections.append(tuple(c + u * w + v * h for c, w, h in zip((x, y, z), width, height)))
    tips = []
    for end, inner in ((0, 1), (-1, -2)):
        # Ends that are seen taper off already; a blunt point closes them.
        outward = unit([p - q for p, q in zip(curve[end][:3], curve[inner][:3])])
        reach = 0.6 * min(curve[end][3:])
        tips.append(tuple(c + reach * o for c, o in zip(curve[end][:3], outward)))
    triangles = []
    for a in range(2, 2 + count * ring, ring):
        for k in range(ring):
            following = (k + 1) % ring
            triangles += [(a + k, a + following, a + k + ring), (a + following, a + following + ring, a + k + ring)]
    last = 2 + count * ring
    for k in range(ring):
        following = (k + 1) % ring
        triangles += [(0, 2 + following, 2 + k), (1, last + k, last + following)]
    return tips + sections, triangles


def ellipsoid(centre, radii, rings=6, ring=10):
    points = []
    for k in range(rings + 1):
        angle = math.pi * (0.06 + 0.88 * k / rings)
        x = centre[0] - radii[0] * math.cos(angle)
        points.append((x, centre[1], centre[2], radii[1] * math.sin(angle), radii[2] * math.sin(angle)))
    return sweep(points, rings, ring)


def spike(base, tip, half_length, half_width, along):
    """A pyramid on the crest, long in the direction `along` and thin across."""
    across = unit(cross(along, [t - b for b, t in zip(base, tip)]))
    corners = [
        tuple(b + u * a + v * c for b, a, c in zip(base, along, across))
        for u, v in ((half_length, 0.0), (0.0, half_width), (-half_length, 0.0), (0.0, -half_width))
    ]
    return corners + [tip], [(1, 0, 4), (2, 1, 4), (3, 2, 4), (0, 3, 4), (0, 1, 2), (0, 2, 3)]


def crest(count):
    """`count` spikes on the upper side of the body, evenly spaced from the nape to the tail; larger where it is thicker."""
    curve = catmull_rom(BODY, 800)
    lengths = [0.0]
    for p, q in zip(curve, curve[1:]):
        lengths.append(lengths[-1] + math.dist(p[:3], q[:3]))
    parts = []
    for k in range(count):
        i = next(i for i, length in enumerate(lengths) if length >= lengths[-1] * (k + 1) / (count + 1))
        x, y, z, half_width, half_height = curve[i]
        _, height = frame(curve, i)
        along = unit([b - a for a, b in zip(curve[i - 1][:3], curve[i + 1][:3])])
        size = 0.45 * half_width + 0.02
        base = tuple(c + 0.85 * half_height * h for c, h in zip((x, y, z), height))
        tip = tuple(c + (size + 0.15 * half_height) * h + 0.5 * size * a for c, h, a in zip(base, height, along))
        parts.append(spike(base, tip, 0.65 * size, 0.03, along))
    return parts


def foot(x, y, length):
    """A sole on the ground with three toes that point forward."""
    parts = [ellipsoid((x, y, 0.055), (0.5 * length, 0.085, 0.055))]
    for side in (-1, 0, 1):
        toe = (
            (x - 0.2 * length, y + 0.03 * side, 0.045, 0.030, 0.035),
            (x - 0.6 * length, y + 0.065 * side, 0.040, 0.030, 0.032),
            (x - 0.9 * length, y + 0.080 * side, 0.025, 0.014, 0.015),
        )
        parts.append(sweep(toe, 4, 6))
    return parts


def dragon():
    jaw = sweep(tuple(reversed(UPPER_JAW)), 20, 16)  # first, so that vertex 0 is its tip
    body = sweep(BODY, 96, RING)
    parts = [jaw, body, sweep(LOWER_JAW, 16, 16)]
    for side in (lambda part: part, mirrored):
        legs = [sweep(FORELEG, 16, 12), sweep(HINDLEG, 16, 12)] + foot(-0.62, 0.31, 0.20) + foot(0.52, 0.32, 0.22)
        head = [sweep(HORN, 14, 8), ellipsoid((-1.02, 0.11, 1.53), (0.05, 0.04, 0.045)), ellipsoid((-1.32, 0.055, 1.495), (0.045, 0.03, 0.03))]
        parts += [side(part) for part in legs + head]
    return parts + crest(24) + [spade()]


def spade():
    """The flat end of the tail."""
    return sweep(((1.14, 0.11, 0.94, 0.03, 0.05), (1.15, 0.11, 1.02, 0.04, 0.13), (1.17, 0.11, 1.12, 0.035, 0.07), (1.20, 0.11, 1.22, 0.02, 0.02)), 12, 12)


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > dragon.obj", file=sys.stderr)
        return 2
    parts = dragon()
    first = len(parts[0][0])
    back = first + max(range(len(parts[1][0])), key=lambda i: parts[1][0][i][2] if parts[1][0][i][0] > -0.3 else -1.0)
    return write_obj(parts, "dragon, m; polygon soup; tip of the upper jaw: vertex 0, top of the back: vertex %d" % back)


if __name__ == "__main__":
    sys.exit(main())
