#!/usr/bin/env python3
"""Energy and momenta of segments of one model along a motion, from the mass matrix of its mesh.

    python3 momenta.py clamped|free MESH BASIS MASS MOTION WIDTH

MASS has all degrees of freedom, as `modes --write-mass` writes it for a mesh where nothing is fixed. Each segment is joined to the
one before, and in a free motion the first one to the last. Printed are the change of the energy and the difference of the kinetic
energy of the trajectory from that of the vertices, both divided by the largest kinetic energy T, the distances of the faces that
are joined, and in a free motion the changes of the momenta, divided by the root of 2 M T and by the largest angular momentum.
"""
import json
import math
import sys
import zipfile

from motion import Model, bodies, cross, read


class Mass:
    """Rows of the mass matrix for one component; the others are the same."""

    def __init__(self, path):
        archive = zipfile.ZipFile(path)
        (_, start), (_, index), (_, value) = (read(archive, name) for name in ("indptr", "indices", "data"))
        self.rows = [[(index[e] // 3, value[e]) for e in range(start[i], start[i + 1]) if index[e] % 3 == 0]
                     for i in range(0, len(start) - 1, 3)]
        self.total = sum(m for row in self.rows for _, m in row)

    def times(self, v):
        return [[sum(m * v[j][a] for j, m in row) for a in range(3)] for row in self.rows]


def momenta(mass, placed):
    """Linear and angular momentum and kinetic energy."""
    P, L, kinetic = [0.0] * 3, [0.0] * 3, 0.0
    for places, velocities in placed:
        for x, v, p in zip(places, velocities, mass.times(velocities)):
            spin = cross(x, p)
            P = [P[a] + p[a] for a in range(3)]
            L = [L[a] + spin[a] for a in range(3)]
            kinetic += 0.5 * sum(v[a] * p[a] for a in range(3))
    return P, L, kinetic


def face(mesh, name):
    """The vertices of a set."""
    archive = zipfile.ZipFile(mesh)
    vertices, at = read(archive, "sets/vertices")[1], 0
    for part in json.loads(bytes(read(archive, "meta")[1]))["sets"]:
        if part["name"] == name:
            return vertices[at:at + part["count"]]
        at += part["count"]
    sys.exit("%s has no set %s" % (mesh, name))


def areas(X, base):
    """Shares of the vertices of a square face of equal cells in its area; the face is at x = 0."""
    edge = max(abs(X[3 * v + a]) for v in base for a in (1, 2))
    share = [math.prod(1 if abs(X[3 * v + a]) > 0.999 * edge else 2 for a in (1, 2)) for v in base]
    return [s / sum(share) for s in share]


def gaps(base, tip, share, placed, closed):
    """The largest distance of the means of two joined faces, and of two of their vertices that are one at rest."""
    mean = vertex = 0
    for (child, _), (parent, _) in zip(placed if closed else placed[1:], placed[-1:] + placed[:-1] if closed else placed):
        apart = [[child[b][a] - parent[t][a] for a in range(3)] for b, t in zip(base, tip)]
        mean = max(mean, math.hypot(*(sum(s * d[a] for s, d in zip(share, apart)) for a in range(3))))
        vertex = max(vertex, max(math.hypot(*d) for d in apart))
    return mean, vertex


def main():
    kind, mesh, basis, mass, motion, width = sys.argv[1:]
    model, mass, base, tip = Model(mesh, basis), Mass(mass), face(mesh, "base"), face(mesh, "tip")
    share = areas(model.X, base)
    energies, kinetics, P, L, apart = [], [], [], [], []
    count = 0
    for _, energy, placed in bodies(motion, lambda _: model):
        p, l, kinetic = momenta(mass, placed)
        count = len(placed)
        energies.append(energy)
        kinetics.append(kinetic)
        P.append(p)
        L.append(l)
        apart.append(gaps(base, tip, share, placed, kind == "free"))
    most = max(e[0] for e in energies)
    strain = max(e[1] for e in energies)
    drift = max(abs(sum(e) - sum(energies[0])) for e in energies)
    counted = max(abs(e[0] - k) for e, k in zip(energies, kinetics))
    lines = [("kinetic energy, largest, J", "%.3g" % most), ("strain energy, largest, J", "%.3g" % strain),
             ("change of the energy / T", "%.1e" % (drift / most)), ("kinetic energy of the vertices less T, / T", "%.1e" % (counted / most)),
             ("means of joined faces, distance / width", "%.1e" % (max(a[0] for a in apart) / float(width))),
             ("vertices of joined faces, distance / width", "%.2f %%" % (100 * max(a[1] for a in apart) / float(width)))]
    if kind == "free":
        scale = math.sqrt(2 * count * mass.total * most)
        lines += [("change of the linear momentum", "%.1e" % (max(math.dist(p, P[0]) for p in P) / scale)),
                  ("change of the angular momentum", "%.1e" % (max(math.dist(l, L[0]) for l in L) / max(math.hypot(*l) for l in L)))]
    for line in lines:
        print("%-45s %s" % line)


main()
