#!/usr/bin/env python3
"""Grow a maple and write it as Wavefront OBJ: model.py LEVELS DOMAINS domain|material > maple.obj

The trunk stands on the ground at the origin. A branch is a bent, tapering tube. LEVELS times it ends in thinner branches: one that goes on
and two opposite ones, as maples have them. A last twig carries two opposite leaves, blades with five lobes. A branch or leaf that would
come close to another part in all of several random directions is left out, so that the tree has no loops.

The groups of the OBJ are "wood" and "leaf", or the DOMAINS "domain-0", "domain-1" and so on: each leaf is a domain, each branch, and with
larger DOMAINS pieces of the longest branches. A domain begins where it is apart from its siblings. What is nearer to the fork belongs to
the domain of the parent.
"""

import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import cross, ring_surface, unit, write_obj

SEED = 5
AROUND = 10    # corners of a ring of a branch
STEP = 0.02    # m, at most, between rings
BENDS = 5      # straight pieces of a branch
TRUNK = 1.7, 0.13    # m, length and radius
THINNEST = 0.026     # m, radius of the thinnest twig
APART = 0.1    # m, between parts that do not belong together
CELL = 0.4     # m, of the grid in which near parts are sought
TRIES = 20     # random directions of a part, before it is left out
STALK = 0.26   # m, of a leaf
REACH = 0.18   # m, from the fork, in which a stalk may be close to the other one and to the twig
BLADE = 0.3    # m, from the stalk to the end of the middle lobe
THICK = 0.006  # m, of a blade
# Half of the outline of a leaf: along and across its middle, in lengths of the blade.
OUTLINE = [(0, 0.03), (-0.12, 0.2), (-0.1, 0.38), (0.08, 0.3), (0.2, 0.38), (0.48, 0.62), (0.46, 0.4), (0.48, 0.24), (0.72, 0.22), (1, 0.02)]


def add(a, b, factor=1.0):
    return tuple(x + factor * y for x, y in zip(a, b))


def between(a, b, part):
    return add(a, add(b, a, -1), part)


def across(direction):
    """Two unit vectors that are perpendicular to a direction and to each other."""
    side = unit(cross(direction, (1, 0, 0) if abs(direction[0]) < 0.8 else (0, 1, 0)))
    return side, cross(direction, side)


def tilted(direction, tilt, around):
    """The direction tilted by an angle towards one that is `around` the axis."""
    side, up = across(direction)
    c, s = math.cos(tilt), math.sin(tilt)
    return unit(tuple(c * d + s * (math.cos(around) * a + math.sin(around) * b) for d, a, b in zip(direction, side, up)))


class Space:
    """The balls that are occupied, by the cells of a grid."""

    def __init__(self):
        self.cells = {}

    def near(self, point):
        x, y, z = (int(c // CELL) for c in point)
        for key in ((x + i, y + j, z + k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)):
            yield from self.cells.get(key, ())

    def free(self, balls, start, reach):
        """Whether balls keep away from all others, except where both are within a reach of the start."""
        for centre, radius in balls:
            close = math.dist(centre, start) < reach
            for other, size in self.near(centre):
                if math.dist(centre, other) < radius + size + APART and not (close and math.dist(other, start) < reach):
                    return False
        return True

    def occupy(self, balls):
        for ball in balls:
            self.cells.setdefault(tuple(int(c // CELL) for c in ball[0]), []).append(ball)


class Branch:
    """A tube along straight pieces, whose first `reach` belongs to the domain of its parent."""

    def __init__(self, parent, points, radii, reach, material):
        self.parent, self.material, self.reach = parent, material, reach
        self.length = sum(math.dist(p, q) for p, q in zip(points, points[1:]))
        self.pieces, self.first, self.blade = 1, None, None
        self.centres = []    # of rings: point, radius
        for p, q, a, b in zip(points, points[1:], radii, radii[1:]):
            count = math.ceil(math.dist(p, q) / STEP)
            self.centres += [(between(p, q, k / count), a + (b - a) * k / count) for k in range(count)]
        self.centres.append((points[-1], radii[-1]))

    def own(self):
        return self.length - self.reach

    def domain(self, k):
        """Of the piece of tube between the centres k and k + 1."""
        along = (k + 0.5) / (len(self.centres) - 1) * self.length - self.reach
        if along < 0 and self.parent:
            return self.parent.first + self.parent.pieces - 1
        return self.first + max(0, int(along / self.own() * self.pieces))

    def rings(self):
        points = [c[0] for c in self.centres]
        side, made = across(unit(add(points[1], points[0], -1)))[0], []
        for k, (point, radius) in enumerate(self.centres):
            along = unit(add(points[min(k + 1, len(points) - 1)], points[max(k - 1, 0)], -1))
            u = unit(cross(cross(along, side), along))
            v = cross(along, u)
            angles = [2 * math.pi * j / AROUND for j in range(AROUND)]
            made.append([add(add(point, u, radius * math.cos(a)), v, radius * math.sin(a)) for a in angles])
        foot = add(points[0], unit(add(points[1], points[0], -1)), -0.5 * self.centres[0][1])
        return [[foot], *made, [add(points[-1], along, 0.5 * self.centres[-1][1])]]

    def parts(self):
        """The domain, the material and the surface of each part."""
        rings, begin = self.rings(), 0
        domains = [self.domain(min(max(k - 1, 0), len(self.centres) - 2)) for k in range(len(rings) - 1)]
        for k in range(1, len(domains) + 1):
            if k == len(domains) or domains[k] != domains[begin]:
                owner = self if domains[begin] >= self.first else self.parent
                yield domains[begin], owner.material, ring_surface(rings[begin:k + 1])
                begin = k
        if self.blade:
            yield self.first, self.material, self.blade


class Maple:
    def __init__(self, levels):
        self.random = random.Random(SEED)
        self.levels = levels
        self.space, self.branches = Space(), []
        self.branch(None, (0, 0, 0), (0, 0, 1), 0, 0, *TRUNK, 0, 0)

    def around(self):
        return self.random.uniform(0, 2 * math.pi)

    def path(self, start, direction, length):
        """Points of a branch that bends at random and a little towards the light, and the direction of its end."""
        pull = unit(add(tilted(direction, self.random.uniform(0.1, 0.5), self.around()), (0, 0, 1), 0.3))
        points, heading = [start], direction
        for _ in range(BENDS):
            heading = unit(add(heading, pull, 0.25))
            points.append(add(points[-1], heading, length / BENDS))
        return points, heading

    def branch(self, parent, start, heading, tilt, turn, length, radius, level, reach):
        """A branch, and what grows from it. Without `turn` its direction around the heading is random."""
        for attempt in range(TRIES):
            direction = tilted(heading, tilt, self.around() if turn is None or attempt else turn)
            points, end = self.path(start, direction, length)
            radii = [radius + (max(0.78 * radius, THINNEST) - radius) * k / BENDS for k in range(BENDS + 1)]
            count = max(1, math.ceil(length / BENDS / radius))
            balls = [(between(p, q, i / count), r) for p, q, r in zip(points, points[1:], radii) for i in range(count)]
            if self.space.free(balls, start, reach):
                break
        else:
            return
        self.space.occupy(balls)
        made = Branch(parent, points, radii, reach, "wood")
        self.branches.append(made)
        turn, thin = self.around(), radii[-1]
        if level == self.levels:
            for about in turn, turn + math.pi:
                self.leaf(made, points[-1], end, 0.9, about)
            return
        for tilt, about, share in (self.random.uniform(0.15, 0.3), None, 0.85), (self.random.uniform(0.7, 0.95), turn, 0.72), \
                (self.random.uniform(0.7, 0.95), turn + math.pi, 0.72):
            self.branch(made, points[-1], end, tilt, about, length * self.random.uniform(0.7, 0.9), max(share * thin, THINNEST), level + 1, 3 * thin + APART)

    def leaf(self, parent, start, heading, tilt, turn):
        for attempt in range(TRIES):
            direction = tilted(heading, tilt, self.around() if attempt else turn)
            level = unit(cross(cross(direction, (0.3, 0.2, 1)), direction))    # a blade faces the light
            leaning = unit(add(*across(direction), self.random.uniform(-1, 1)))
            side = cross(direction, unit(add(level, leaning, 0.4)))
            foot = add(start, direction, STALK)
            half, other = ([add(add(foot, direction, BLADE * x), side, s * BLADE * y) for x, y in OUTLINE] for s in (1, -1))
            stalk = [(add(start, direction, STALK * k / 6), THINNEST) for k in range(6)]
            flat = [(between(p, q, t), 0.02) for p, q in zip(half, other) for t in (0, 0.25, 0.5, 0.75, 1)]
            if self.space.free(stalk, start, REACH) and self.space.free(flat, start, 0):
                break
        else:
            return
        self.space.occupy(stalk + flat)
        made = Branch(parent, [start, add(foot, direction, 0.15 * BLADE)], [THINNEST] * 2, REACH, "leaf")
        made.blade = blade([*half, *other[::-1]], add(foot, direction, 0.2 * BLADE), cross(direction, unit(side)))
        self.branches.append(made)

    def divide(self, domains):
        """Numbers the domains. Returns whether there are as many."""
        wood = [b for b in self.branches if not b.blade]
        for _ in range(domains - len(self.branches)):
            max(wood, key=lambda b: b.own() / b.pieces).pieces += 1
        first = 0
        for b in self.branches:
            b.first = first
            first += b.pieces
        return first == domains


def blade(outline, middle, normal):
    """A flat solid: two fans about its middle, and the rim."""
    count = len(outline)
    vertices = [add(p, normal, 0.5 * THICK * s) for s in (1, -1) for p in [*outline, middle]]
    faces = []
    for k in range(count):
        m, other = (k + 1) % count, count + 1
        faces += [(count, m, k), (other + count, other + k, other + m), (k, m, other + m, other + k)]
    return vertices, faces


def main():
    levels, domains, grouping = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if levels < 1:
        print("model.py: a trunk without branches has no leaves", file=sys.stderr)
        return 2
    maple = Maple(levels)
    if not maple.divide(domains):
        print(f"model.py: the tree has {len(maple.branches)} branches and leaves, more than {domains} domains", file=sys.stderr)
        return 2
    groups = {}
    for branch in maple.branches:
        for domain, material, part in branch.parts():
            groups.setdefault(f"domain-{domain}" if grouping == "domain" else material, []).append(part)
    leaves = sum(b.blade is not None for b in maple.branches)
    return write_obj(groups, f"a maple of {len(maple.branches) - leaves} branches and {leaves} leaves")


sys.exit(main())
