#!/usr/bin/env python3
"""The scenes of a tree in domains, and what goes with them. FOLDER has parts.npz and the domains.

    python3 scene.py wind|release FOLDER    the scene in JSON; also writes the loads, FOLDER/wind-D.csv or release-D.csv for each body
    python3 scene.py domains FOLDER         the scene in JSON of the domains at rest, each a rigid body
    python3 scene.py tip|pulled FOLDER      BODY:VERTEX of the top of the tree, or where it is pulled
    python3 scene.py place FOLDER           near:X,Y,Z of the top
    python3 scene.py full FOLDER            the loads of the wind on a tree in one piece

The weight grows from 0 in the first seconds: gravity acts from the start, and a load against it falls to 0. Then the wind blows along x,
in gusts, and each leaf has the drag of its area. Or a branch is pulled down and let go.
"""

import json
import math
import sys

from division import Division, Domain

GRAVITY = 9.81
WEIGHT = 3          # s, in which the weight grows
CALM = 4            # s, when the first gust or the pull begins
DRAG = 0.5 * 1.2    # kg/m³, half of the density of air, for a drag coefficient of 1
AREA = 0.037        # m², of the blade of a leaf
SPEED = 25          # m/s, of the strongest gust
GUSTS = [(0, 0), (0.5, 1), (1.2, 0.15), (1.8, 0.8), (2.4, 0.1), (3.2, 0.5), (4, 0)]    # s, part of the largest drag
PULL = 1.2          # s
DEPTH = 2.0         # m, by which the end of the spring moves down
SPRING = 300        # N/m
CARRIED = 20        # domains of the branch that is pulled


class Tree:
    def __init__(self, folder):
        self.folder = folder
        self.parts = Division(folder + "/parts.npz")
        self.domains = [Domain(f"{folder}/{d}.npz") for d in range(len(self.parts))]
        self.leaves = [d for d in range(len(self.parts)) if self.domains[d].material["name"] == "leaf"]

    def body(self, d, load):
        return {"name": f"d{d}", "model": f"m{self.parts.same[d]}", "motion": "free", "position": self.parts.origin[d], "loads": load}

    def joint(self, d):
        p = self.parts.parent[d]
        if p < 0:
            return {"child": f"d{d}"}
        return {"child": f"d{d}", "parent": f"d{p}", "interface": f"interface-{self.parts.neighbours[p].index(d) + 1}"}

    def scene(self, kind):
        models = {f"m{d}": {"kind": "reduced", "mesh": f"{d}.npz", "basis": f"{d}-basis.npz", "cubature": f"{d}-cubature.npz"}
                  for d in range(len(self.parts)) if self.parts.same[d] == d}
        every = range(len(self.parts))
        return {"gravity": [0, 0, -GRAVITY], "models": models, "bodies": [self.body(d, f"{kind}-{d}.csv") for d in every], "joints": [self.joint(d) for d in every]}

    def rest(self):
        every = range(len(self.parts))
        models = {f"m{d}": {"kind": "rigid", "mesh": f"{d}.npz"} for d in every if self.parts.same[d] == d}
        bodies = [{"name": f"d{d}", "model": f"m{self.parts.same[d]}", "position": self.parts.origin[d]} for d in every]
        return {"models": models, "bodies": bodies}

    def drag(self):
        """N, of a leaf in the strongest gust."""
        return DRAG * AREA * SPEED ** 2

    def top(self):
        return max((p[2], d, v) for d, domain in enumerate(self.domains) for v, p in enumerate(domain.vertices(self.parts.origin[d])))[1:]

    def pulled(self):
        """Body, vertex and place: of the branch with so many domains that reaches out most, the vertex furthest from the trunk."""
        branches = [d for d in range(len(self.parts)) if self.parts.below(d) >= min(CARRIED, len(self.parts) // 4)
                    and not any(self.parts.below(c) >= min(CARRIED, len(self.parts) // 4) for c in self.parts.children(d))]
        _, d, v, place = max((math.hypot(p[0], p[1]), d, v, p) for d in branches for v, p in enumerate(self.domains[d].vertices(self.parts.origin[d])))
        return d, v, place


def course(pairs):
    return "table:" + ";".join(f"{t:g} {f:g}" for t, f in pairs)


def growing(kind, name, mass):
    """The load against gravity that lets a weight grow."""
    return f"0,{WEIGHT},{kind},{name},0,0,{mass * GRAVITY:.9g},{course([(0, 1), (WEIGHT, 0)])}"


def gusts(kind, name, force):
    return f"{CALM},inf,{kind},{name},{force:.9g},0,0,{course(GUSTS)}"


def pull(vertex, place):
    x, y, z = place
    return [f"{CALM},{CALM + PULL},spring,{vertex},{x:.6g},{y:.6g},{z:.6g},{SPRING},{x:.6g},{y:.6g},{z - DEPTH:.6g}"]


def write_loads(tree, kind):
    body, vertex, place = tree.pulled()
    for d, domain in enumerate(tree.domains):
        rows = [growing("all", "", domain.mass)]
        if kind == "wind":
            rows += [gusts("all", "", tree.drag())] if d in tree.leaves else []
        elif d == body:
            rows += pull(vertex, place)
        with open(f"{tree.folder}/{kind}-{d}.csv", "w") as out:
            out.write("\n".join(rows) + "\n")


def full(tree):
    for name in "wood", "leaf":
        print(growing("region", name, sum(domain.mass for domain in tree.domains if domain.material["name"] == name)))
    print(gusts("region", "leaf", tree.drag() * len(tree.leaves)))


def main():
    kind, tree = sys.argv[1], Tree(sys.argv[2])
    if kind in ("wind", "release"):
        write_loads(tree, kind)
        print(json.dumps(tree.scene(kind), indent=1))
    elif kind == "domains":
        print(json.dumps(tree.rest(), indent=1))
    elif kind == "full":
        full(tree)
    elif kind == "pulled":
        print("d%d:%d" % tree.pulled()[:2])
    else:
        body, vertex = tree.top()
        place = tree.domains[body].vertices(tree.parts.origin[body])[vertex]
        print(f"d{body}:{vertex}" if kind == "tip" else "near:%.9g,%.9g,%.9g" % place)


main()
