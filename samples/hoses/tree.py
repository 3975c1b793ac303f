#!/usr/bin/env python3
"""The nodes of the point tree that one cycle of contact traverses without temporal coherence (Barbič 2007, Figure 3.11):
tree.py SHELL.npz FIELD.npz MOTION.npz CYCLE FOLDER. It prints the number of nodes by level, and writes the deepest
spheres of each branch, of which each is free of contact, as FOLDER/tree-CYCLE-LEVEL.obj, and the scene of these spheres
and the part as FOLDER/tree-CYCLE.json. Cycle n ends with frame n of the motion, and cycle 0 is at rest.

A cycle finds contacts where the hoses will be half a step ahead, q + h/2 dq/dt with the velocities at its start, and the
part where it is at its start.

A node is culled if the distance of its centre from the part exceeds its radius, R + sum of a_j |q_j| (equation 3.12), by
more than √3 cells of the field, within which an interpolated distance may err."""

import contextlib
import json
import math
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "points"), str(pathlib.Path(__file__).resolve().parents[1])]
from shell import member, moved
from soup import ellipsoid, joined, write_obj


class Part:
    """The distance from the part in its frame, by trilinear interpolation, and outside the grid a lower bound."""

    def __init__(self, path, pose):
        self.value, self.shape = member(path, "distance")
        self.origin = member(path, "origin")[0]
        self.cell = member(path, "spacing")[0][0]
        self.boundary = json.loads(bytes(member(path, "result")[0]))["boundary"]
        self.place, self.orientation = list(pose[:3]), list(pose[3:])
        w, x, y, z = self.orientation
        self.turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]

    def distance(self, point):
        d = [p - c for p, c in zip(point, self.place)]
        at = [(sum(self.turn[i][k] * d[i] for i in range(3)) - self.origin[k]) / self.cell for k in range(3)]
        cells = [n - 1 for n in self.shape[::-1]]
        gap = math.dist(at, [min(max(a, 0), n) for a, n in zip(at, cells)])
        if gap > 0:
            return gap * self.cell + self.boundary
        low = [min(int(a), n - 1) for a, n in zip(at, cells)]
        sum_ = 0.0
        for corner in range(8):
            up = [corner >> k & 1 for k in range(3)]
            weight = math.prod(a - l if u else 1 - (a - l) for a, l, u in zip(at, low, up))
            x, y, z = (l + u for l, u in zip(low, up))
            sum_ += weight * self.value[(z * self.shape[1] + y) * self.shape[2] + x]
        return sum_


def main():
    shell, field, motion, cycle, folder = sys.argv[1:]
    time = member(motion, "time/")[0]
    start = max(int(cycle) - 1, 0)
    pose, shape = member(motion, "pose/")  # of the hoses and of the part
    row = 7 * (shape[1] * start + 1)
    part = Part(field, pose[row : row + 7])
    points, us, level, parent, radius, a = (member(shell, name)[0] for name in ("points", "Us", "level", "parent", "radius", "a"))
    r = len(a) // len(radius)
    half = (time[int(cycle)] - time[start]) / 2
    q = [x + half * v for x, v in zip(*(member(motion, name)[0][r * start : r * (start + 1)] for name in ("q/", "qdot/")))]
    levels = level[-1]
    counts = [sum(one <= k for one in level) for k in range(1, levels + 1)]
    first = [sum(counts[: k - 1]) for k in range(1, levels + 1)]
    children = {}
    for p, up in enumerate(parent):
        children.setdefault((level[p] - 1, up), []).append(p)
    # The colours follow the order of the models: level 1 and the part have those of hoses and part in scene.json.
    models = dict.fromkeys(["level1", "part"], {"kind": "rigid", "surface": "part.obj"})
    bodies = [{"name": "part", "model": "part", "position": part.place, "orientation": part.orientation}]
    here, visited = range(counts[0]), []
    slack = math.sqrt(3) * part.cell
    for k in range(1, levels + 1):
        visited.append(len(here))
        below, spheres = [], []
        for p in here if k < levels else ():
            node = first[k - 1] + p
            centre = moved(points[3 * p : 3 * p + 3], us[3 * r * p : 3 * r * (p + 1)], q)
            bound = radius[node] + sum(a[r * node + j] * abs(q[j]) for j in range(r))
            if part.distance(centre) > bound + slack:
                spheres.append(ellipsoid(centre, (bound,) * 3, 0, 8, 12))
            else:
                below += [p, *children.get((k, p), ())]
        if spheres:
            name = "tree-%s-%d.obj" % (cycle, k)
            with open("%s/%s" % (folder, name), "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
                write_obj([joined(spheres)])
            models["level%d" % k] = {"kind": "rigid", "surface": name}
            bodies.append({"name": "level%d" % k, "model": "level%d" % k})
        here = below
    with open("%s/tree-%s.json" % (folder, cycle), "w", encoding="utf-8") as file:
        json.dump({"models": models, "bodies": bodies}, file, indent=1)
    print("%s %.3f s: nodes by level %s, together %d" % (cycle, time[int(cycle)], " ".join(map(str, visited)), sum(visited)))


main()
