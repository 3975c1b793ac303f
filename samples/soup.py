"""What the samples' models are made with: vectors, a curve, surfaces of rings, and Wavefront OBJ on standard output.

A part is (vertices, faces): points, and faces of their numbers from 0. Parts may stick into one another: a polygon soup.
"""

import math
import os
import sys


def unit(vector):
    length = math.hypot(*vector)
    return tuple(component / length for component in vector)


def cross(a, b):
    return tuple(a[k - 2] * b[k - 1] - a[k - 1] * b[k - 2] for k in range(3))


def catmull_rom(points, parts):
    """The C1 cubic through `points`, `parts` pieces between neighbours."""
    ends = [tuple(2 * a - b for a, b in zip(points[0], points[1])), *points]
    ends.append(tuple(2 * a - b for a, b in zip(points[-1], points[-2])))
    curve = []
    for p, q, r, s in zip(ends, ends[1:], ends[2:], ends[3:]):
        for k in range(parts):
            t = k / parts
            weights = (t * (t * (2 - t) - 1) / 2, (t * t * (3 * t - 5) + 2) / 2, t * (t * (4 - 3 * t) + 1) / 2, t * t * (t - 1) / 2)
            curve.append(tuple(sum(w * v for w, v in zip(weights, four)) for four in zip(p, q, r, s)))
    return [*curve, points[-1]]


def mirrored(part):
    """In y, and still facing outward."""
    vertices, triangles = part
    return [(x, -y, z) for x, y, z in vertices], [(a, c, b) for a, b, c in triangles]


def joined(parts):
    """One part of them all."""
    vertices, faces = [], []
    for points, corners in parts:
        faces += [[len(vertices) + corner for corner in face] for face in corners]
        vertices += points
    return vertices, faces


def turned(p, axis, degrees):
    """A point about an axis x, y or z through the origin."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    a, b = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    q = list(p)
    q[a], q[b] = c * p[a] - s * p[b], s * p[a] + c * p[b]
    return q


def ellipsoid(centre, radii, degrees=0, rings=18, ring=24):
    """A part with rings of constant latitude and poles along z, turned by `degrees` about y."""
    points = [(0, 0, -1)]
    for i in range(1, rings):
        u = math.pi * i / rings
        points += [(math.sin(u) * math.cos(2 * math.pi * k / ring), math.sin(u) * math.sin(2 * math.pi * k / ring), -math.cos(u)) for k in range(ring)]
    points.append((0, 0, 1))
    triangles = []
    for k in range(ring):
        n = (k + 1) % ring
        triangles.append((0, 1 + n, 1 + k))
        for i in range(rings - 2):
            a = 1 + ring * i
            triangles += [(a + k, a + n, a + ring + n), (a + k, a + ring + n, a + ring + k)]
        a = 1 + ring * (rings - 2)
        triangles.append((a + k, a + n, len(points) - 1))
    vertices = [[c + d for c, d in zip(centre, turned([r * x for r, x in zip(radii, p)], "y", degrees))] for p in points]
    return vertices, triangles


def ring_surface(rings):
    """The part between rings of equally many points that follow each other; a ring of one point is a tip. Left of a ring is out
    where it is above the one before."""
    vertices, faces, before = [], [], None
    for ring in rings:
        now = list(range(len(vertices), len(vertices) + len(ring)))
        vertices += ring
        around = max(len(now), len(before or ()))
        for k in range(around if before else 0):
            m = (k + 1) % around
            corners = [before[k % len(before)], before[m % len(before)], now[m % len(now)], now[k % len(now)]]
            faces.append([c for j, c in enumerate(corners) if c not in corners[:j]])
        before = now
    return vertices, faces


def write_lines(lines):
    """To standard output. Returns the exit code."""
    try:
        print("\n".join(lines), flush=True)
    except OSError as error:
        print(f"{os.path.basename(sys.argv[0])}: standard output: {error.strerror}", file=sys.stderr)
        return 4
    return 0


def write_obj(parts, comment="", number="%.6f"):
    """A list of parts, or lists of them by the names of their groups, with coordinates in this format. Returns the exit code."""
    lines, count = ["# " + comment] if comment else [], 0
    for name, members in parts.items() if isinstance(parts, dict) else [("", parts)]:
        lines += ["g " + name] if name else []
        for vertices, faces in members:
            lines += [" ".join(["v"] + [number % c for c in vertex]) for vertex in vertices]
            lines += [" ".join(["f"] + ["%d" % (count + 1 + corner) for corner in face]) for face in faces]
            count += len(vertices)
    return write_lines(lines)
