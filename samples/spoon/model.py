#!/usr/bin/env python3
"""Write the model of a spoon, 2.5 m long, as Wavefront OBJ to standard output.

    python3 model.py > spoon.obj

The spoon lies along x, its handle ends at x = 0, the tip of its bowl at x = 2.5; the bowl is hollow towards +z. The
surface is one closed manifold that faces outward, symmetric in y, with the counts of the spoon in Barbič & James 2005,
Figure 3: 3321 vertices and 6638 triangles. The first RING vertices are the handle's end, the last vertex is the tip.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_obj

LENGTH = 2.5
RING = 40  # vertices of a cross-section, a multiple of 4: both rims and both middles are vertices
RINGS = 83  # cross-sections; RING * RINGS + 1 = 3321 vertices

NECK = 1.76  # x where the bowl begins to widen
WIDEST = 2.18  # x of the bowl's largest width
BOWL_WIDTH, BOWL_DEPTH, BOWL_THICKNESS = 0.435, 0.115, 0.058
HANDLE_WIDTH, HANDLE_THICKNESS = 0.125, 0.076

# Height of the handle's middle and of the bowl's rim over x: an S, lowest where the bowl begins, tip slightly raised.
RIM_HEIGHT = ((0.0, 0.075), (0.25, 0.090), (0.75, 0.125), (1.25, 0.105), (1.75, 0.035), (2.1, 0.020), (2.5, 0.050))


def smoothstep(x, start, end):
    """0 before `start`, 1 behind `end`, between them the quintic whose first two derivatives vanish at both."""
    t = min(max((x - start) / (end - start), 0.0), 1.0)
    return t * t * t * (10.0 - 15.0 * t + 6.0 * t * t)


def spline(knots):
    """The C1 cubic Hermite function through `knots` with Catmull-Rom slopes, level at the first knot."""
    slopes = [0.0]
    slopes += [(after[1] - before[1]) / (after[0] - before[0]) for before, after in zip(knots, knots[2:])]
    slopes.append((knots[-1][1] - knots[-2][1]) / (knots[-1][0] - knots[-2][0]))

    def value(x):
        i = max(k for k in range(len(knots) - 1) if k == 0 or knots[k][0] <= x)
        (x0, z0), (x1, z1) = knots[i], knots[i + 1]
        t, h = (x - x0) / (x1 - x0), x1 - x0
        return (
            z0 * (1 + 2 * t) * (1 - t) ** 2
            + z1 * t * t * (3 - 2 * t)
            + h * t * (1 - t) * (slopes[i] * (1 - t) - slopes[i + 1] * t)
        )

    return value


rim_height = spline(RIM_HEIGHT)


def rounded(distance, reach, exponent=2.0):
    """1 beyond `reach` from an end of the spoon, falling to 0 at the end as a (super)ellipse does."""
    t = max(1.0 - distance / reach, 0.0)
    return max(1.0 - t**exponent, 0.0) ** (1.0 / exponent)


def bowl_front(x):
    """The bowl's width from its widest place to the tip, as a fraction."""
    return rounded(LENGTH - x, LENGTH - WIDEST, 2.1)


def half_width(x):
    handle = 0.5 * HANDLE_WIDTH * (1.0 + 0.8 * (1.0 - smoothstep(x, 0.06, 0.95)) - 0.12 * smoothstep(x, 0.9, 1.6))
    bowl = 0.5 * BOWL_WIDTH
    width = handle + (bowl - handle) * smoothstep(x, NECK, WIDEST)
    # The handle's end starts a little inside its ellipse, so that it is a facet that can be held and not a point.
    return width * rounded(x + 0.004, 0.11) * bowl_front(x)


def hollow(x):
    """Depth of the bowl's middle below its rim; of the order of half_width² at the tip, so that slopes stay finite."""
    return BOWL_DEPTH * smoothstep(x, NECK + 0.05, WIDEST + 0.06) * bowl_front(x) ** 2


def middle_height(x):
    return rim_height(x) - hollow(x)


def half_thickness(x):
    bowl = smoothstep(x, NECK - 0.05, WIDEST - 0.05)
    thickness = HANDLE_THICKNESS + (BOWL_THICKNESS - HANDLE_THICKNESS) * bowl
    # Cross-sections are upright, so a sloping shell is cut obliquely.
    step = 1e-4
    slope = (middle_height(min(x + step, LENGTH)) - middle_height(max(x - step, 0.0))) / (2.0 * step)
    return 0.5 * thickness * math.hypot(1.0, slope) * rounded(x + 0.004, 0.035) * rounded(LENGTH - x, 0.04)


def equidistant(points, density, count):
    """`count` + 1 of the dense `points` parameters, spaced evenly in the integral of `density` between neighbours."""
    sums = [0.0]
    for p, q in zip(points, points[1:]):
        sums.append(sums[-1] + density(p, q))
    chosen, i = [points[0]], 0
    for k in range(1, count):
        target = sums[-1] * k / count
        while sums[i + 1] < target:
            i += 1
        t = (target - sums[i]) / (sums[i + 1] - sums[i])
        chosen.append(points[i] + t * (points[i + 1] - points[i]))
    return chosen + [points[-1]]


def superellipse(angle, exponent):
    """Point of |s|^e + |n|^e = 1 in the first quadrant by its polar angle, from the rim (1, 0) to the middle (0, 1)."""
    s, n = max(math.cos(angle), 0.0), max(math.sin(angle), 0.0)
    radius = (s**exponent + n**exponent) ** (-1.0 / exponent)
    return s * radius, n * radius


def section(x):
    """The RING vertices of the cross-section at x, counter-clockwise as seen from +x."""
    width, thickness, depth, rim = half_width(x), half_thickness(x), hollow(x), rim_height(x)
    # A wide section is a shell of even thickness with a round rim, a narrow one nearly an ellipse.
    exponent = 2.4 + 2.6 * smoothstep(x, NECK, WIDEST)

    def flat(angle):
        s, n = superellipse(angle, exponent)
        return width * s, thickness * n

    def density(p, q):
        (y0, z0), (y1, z1) = flat(p), flat(q)
        turn = math.hypot((y1 - y0) * thickness, (z1 - z0) * width) / math.hypot(width, thickness)
        return math.hypot(y1 - y0, z1 - z0) + 2.0 * turn

    dense = [0.5 * math.pi * k / 400 for k in range(401)]
    quarter = [superellipse(angle, exponent) for angle in equidistant(dense, density, RING // 4)]
    quarter[0], quarter[-1] = (1.0, 0.0), (0.0, 1.0)

    def place(s, n):
        # The middle line is a parabola through the rims; thickness is laid off along its normal.
        slope = 2.0 * depth * s / width
        scale = thickness * n / math.hypot(1.0, slope)
        return x, width * s - slope * scale, rim - depth * (1.0 - s * s) + scale

    upper = quarter + [(-s, n) for s, n in quarter[-2::-1]]
    return [place(s, n) for s, n in upper] + [place(s, -n) for s, n in upper[-2:0:-1]]


def stations():
    """x of the cross-sections and of the tip: closer where the bowl curves, closest at both ends."""

    def density(p, q):
        x = 0.5 * (p + q)
        ends = 0.9 / math.sqrt(x + 0.004) + 1.5 / math.sqrt(LENGTH - x)
        return (q - p) * (1.0 + 1.0 * smoothstep(x, NECK - 0.3, NECK) + 0.55 * ends)

    return equidistant([LENGTH * k / 20000 for k in range(20001)], density, RINGS)


def quad(a, b, c, d, mirrored):
    """Two triangles of the corners a, b, c, d, cut the other way on the side y < 0 so that the surface is symmetric."""
    return [(a, b, d), (b, c, d)] if mirrored else [(a, b, c), (a, c, d)]


def triangles():
    """Vertex triples from 0: the facet at the handle's end, bands between the cross-sections, a fan about the tip."""
    half, quarter = RING // 2, RING // 4
    facet = [(0, RING - 1, 1), (half - 1, half + 1, half)]
    for k in range(1, half - 1):
        facet += quad(k, RING - k, RING - k - 1, k + 1, k >= quarter)
    bands = []
    for a in range(0, (RINGS - 1) * RING, RING):
        for k in range(RING):
            following = (k + 1) % RING
            bands += quad(a + k, a + following, a + following + RING, a + k + RING, quarter <= k < half + quarter)
    last, tip = (RINGS - 1) * RING, RINGS * RING
    fan = [(last + k, last + (k + 1) % RING, tip) for k in range(RING)]
    return facet + bands + fan


def main():
    if len(sys.argv) > 1:
        print("usage: model.py > spoon.obj", file=sys.stderr)
        return 2
    *sections, tip = stations()
    vertices = [vertex for x in sections for vertex in section(x)] + [(tip, 0.0, middle_height(tip))]
    return write_obj([(vertices, triangles())], "spoon, m; handle's end at x = 0, tip at x = 2.5")


if __name__ == "__main__":
    sys.exit(main())
