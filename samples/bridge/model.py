#!/usr/bin/env python3
"""Write the model of a suspension bridge, 20 m long, as Wavefront OBJ to standard output.

    python3 model.py > bridge.obj

The bridge lies along x from 0 to 20, the towers stand on z = 0, the deck is symmetric in y. It is a polygon soup made the
way such models are drawn: parts (groups deck, towers, cables, hangers) that are closed each but only stick into one
another, boxes whose faces share no vertices, tubes whose triangles do. 41382 vertices and 59596 triangles: 0.1 % from
those of the bridge in Barbič & James 2005, Figure 3 (41361 and 59630).
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import cross, unit, write_obj

LENGTH = 20.0
TOWERS = (5.0, 15.0)  # x
PLANE = 1.01  # |y| of the cables, hangers and tower legs
DECK_WIDTH = 1.60
TOWER_TOP = 5.10  # z of the cables on the towers
CABLE_LOW = 2.45  # z of the cables at midspan
ANCHOR = 0.22  # x of the cables' ends, from both ends of the bridge
CABLE_RADIUS = 0.06
HANGER_RADIUS = 0.02
HANGERS = [0.5 * k for k in range(1, 40) if 0.5 * k not in TOWERS]  # x; a floor beam hangs on each pair
RAIL_HEIGHT = 0.50


def deck_height(x):
    """z of the girder's upper side: the deck is cambered by 0.3 m."""
    return 1.70 + 0.30 * (1.0 - (2.0 * x / LENGTH - 1.0) ** 2)


def cable_height(x):
    """Parabolas: the main span, level at its middle, and the slighter sag of the side spans."""
    side = min(x, LENGTH - x)
    if side >= TOWERS[0]:
        return CABLE_LOW + (TOWER_TOP - CABLE_LOW) * ((x - 0.5 * LENGTH) / (0.5 * LENGTH - TOWERS[0])) ** 2
    t = (side - ANCHOR) / (TOWERS[0] - ANCHOR)
    end = deck_height(ANCHOR)
    return end + (TOWER_TOP - end) * t - 4.0 * 0.30 * t * (1.0 - t)


def box(centre, size, pitch=0.0):
    """A box with four vertices of its own on each face, turned about y so that its x axis climbs with slope `pitch`."""
    cosine, sine = 1.0 / math.hypot(1.0, pitch), pitch / math.hypot(1.0, pitch)
    vertices, triangles = [], []
    for axis in range(3):
        for sign in (-1, 1):
            first = len(vertices)
            # Counter-clockwise as seen from outside.
            for p, q in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                corner = [0.0, 0.0, 0.0]
                corner[axis] = 0.5 * sign * size[axis]
                corner[(axis + 1) % 3] = 0.5 * p * sign * size[(axis + 1) % 3]
                corner[(axis + 2) % 3] = 0.5 * q * size[(axis + 2) % 3]
                x, y, z = corner
                vertices.append((centre[0] + cosine * x - sine * z, centre[1] + y, centre[2] + sine * x + cosine * z))
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return vertices, triangles


def circle(radius, corners):
    angles = [2.0 * math.pi * (k + 0.5) / corners for k in range(corners)]
    return [(radius * math.cos(a), radius * math.sin(a)) for a in angles]


def rectangle(width, height):
    return [(0.5 * width * p, 0.5 * height * q) for p, q in ((1, -1), (1, 1), (-1, 1), (-1, -1))]


def sweep(path, profile, across=(0.0, 1.0, 0.0), scale=lambda t: 1.0):
    """A closed tube: the convex, counter-clockwise `profile` of (u, v), u along `across`, v square to it and to the path.

    `across` is square to the whole path. `scale` changes the profile from t = 0 at the path's start to 1 at its end."""
    vertices, triangles, n = [], [], len(profile)
    for i, point in enumerate(path):
        behind, ahead = path[max(i - 1, 0)], path[min(i + 1, len(path) - 1)]
        t = unit([b - a for a, b in zip(behind, ahead)])
        up = cross(t, across)
        size = scale(i / (len(path) - 1))
        vertices += [tuple(point[k] + size * (u * across[k] + v * up[k]) for k in range(3)) for u, v in profile]
    for a in range(0, len(vertices) - n, n):
        for k in range(n):
            following = (k + 1) % n
            triangles += [(a + k, a + following, a + following + n), (a + k, a + following + n, a + k + n)]
    last = len(vertices) - n
    for k in range(1, n - 1):
        triangles += [(0, k + 1, k), (last, last + k, last + k + 1)]
    return vertices, triangles


def along(height, y, count, start=0.0, end=LENGTH):
    """The path over x with z = height(x)."""
    return [(x, y, height(x)) for x in (start + (end - start) * k / count for k in range(count + 1))]


def upright(x, y, bottom, top, count):
    return [(x, y, bottom + (top - bottom) * k / count) for k in range(count + 1)]


def slope(height, x):
    return (height(x + 1e-3) - height(x - 1e-3)) / 2e-3


def on_deck(x, y, above, size):
    """A box whose centre lies `above` the deck, parallel to it."""
    pitch = slope(deck_height, x)
    return box((x, y, deck_height(x) + above), size, pitch)


def evenly(count):
    """Middles of `count` equal parts of the bridge's length."""
    return [LENGTH * (k + 0.5) / count for k in range(count)]


def deck():
    half = 0.5 * DECK_WIDTH
    girder = [(half - 0.04, -0.10), (half - 0.04, 0.0), (0.04 - half, 0.0), (0.04 - half, -0.10), (-0.42, -0.34), (0.42, -0.34)]
    parts = [sweep(along(deck_height, 0.0, 100), girder)]
    parts += [on_deck(x, 0.0, 0.02, (0.08, DECK_WIDTH, 0.05)) for x in evenly(200)]  # planks
    for side in (-1, 1):
        edge = side * (half - 0.13)
        for height, radius in ((RAIL_HEIGHT, 0.030), (0.60 * RAIL_HEIGHT, 0.015), (0.30 * RAIL_HEIGHT, 0.015)):
            parts.append(sweep(along(lambda x: deck_height(x) + height, edge, 120, 0.03, LENGTH - 0.03), circle(radius, 8)))
        parts += [on_deck(x, edge, 0.5 * RAIL_HEIGHT, (0.03, 0.03, RAIL_HEIGHT)) for x in evenly(110)]  # posts
        parts += [on_deck(x, side * PLANE, -0.04, (0.42, 0.26, 0.30)) for x in (ANCHOR, LENGTH - ANCHOR)]  # anchors
    for x in HANGERS + [ANCHOR, LENGTH - ANCHOR]:
        parts.append(on_deck(x, 0.0, -0.10, (0.08, 2.0 * PLANE + 0.14, 0.14)))  # floor beams
    return parts


def towers():
    parts = []
    octagon = [(0.15, -0.07), (0.15, 0.07), (0.07, 0.15), (-0.07, 0.15), (-0.15, 0.07), (-0.15, -0.07), (-0.07, -0.15), (0.07, -0.15)]
    for x in TOWERS:
        for y in (-PLANE, PLANE):
            parts.append(sweep(upright(x, y, 0.1, TOWER_TOP + 0.05, 24), octagon, scale=lambda t: 1.15 - 0.30 * t))
            parts.append(box((x, y, 0.12), (0.62, 0.50, 0.24)))
            parts.append(box((x, y, 0.30), (0.46, 0.42, 0.16)))
            parts.append(box((x, y, TOWER_TOP + 0.02), (0.34, 0.30, 0.20)))
            parts.append(box((x, y, TOWER_TOP + 0.16), (0.22, 0.20, 0.12)))
        below = deck_height(x) - 0.40
        for z, height in ((below, 0.20), (3.45, 0.16), (4.85, 0.20)):
            parts.append(box((x, 0.0, z), (0.20, 2.0 * PLANE, height)))
        for bottom, top in ((0.35, below), (3.45, 4.85)):
            for side in (-1, 1):
                ends = ((x, -side * (PLANE - 0.05), bottom), (x, side * (PLANE - 0.05), top))
                path = [tuple(p + (q - p) * k / 10 for p, q in zip(*ends)) for k in range(11)]
                parts.append(sweep(path, circle(0.05, 8), across=(1.0, 0.0, 0.0)))
    return parts


def cables():
    return [sweep(along(cable_height, side * PLANE, 200, ANCHOR, LENGTH - ANCHOR), circle(CABLE_RADIUS, 16)) for side in (-1, 1)]


def hangers():
    parts = []
    for x in HANGERS:
        for y in (-PLANE, PLANE):
            bottom, top = deck_height(x) - 0.08, cable_height(x)
            parts.append(sweep(upright(x, y, bottom, top, 19), circle(HANGER_RADIUS, 8)))
            parts.append(box((x, y, top), (0.10, 0.12, 0.15), slope(cable_height, x)))  # clamp
            parts.append(box((x, y, bottom + 0.09), (0.06, 0.06, 0.14)))  # socket
    return parts


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > bridge.obj", file=sys.stderr)
        return 2
    parts = {"deck": deck(), "towers": towers(), "cables": cables(), "hangers": hangers()}
    return write_obj(parts, "suspension bridge, m; polygon soup")


if __name__ == "__main__":
    sys.exit(main())
