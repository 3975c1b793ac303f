"""Writes the mass matrix of a mesh as other programs integrate it: typed_mass.py MESH.npz LIKE.npz OUT.npz, with the pattern and order of
LIKE.npz, a mass matrix of modes --write-mass.

CalculiX sums the mass over the points of the stiffness: 4 of a tetrahedron, 8 of a hexahedron of reduced integration, 9 of a wedge.
Shape functions are found here from the polynomials that a type spans and the places of its nodes, not from formulas.
"""
import json
import sys

import numpy as np

G = np.sqrt(0.6)
a, b = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
TRIANGLE = [(1 / 6, 1 / 6), (2 / 3, 1 / 6), (1 / 6, 2 / 3)]
h = 1 / np.sqrt(3)
TYPES = {
    'tet10': dict(corners=[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], edges=[(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
                  spans=lambda i, j, k: i + j + k <= 2, points=[(a, a, a), (b, a, a), (a, b, a), (a, a, b)], weights=[1 / 24] * 4),
    'hex20r': dict(corners=[(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)],
                   edges=[(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
                   spans=lambda i, j, k: sum(e for e in (i, j, k) if e > 1) <= 2, points=[(x, y, z) for x in (-h, h) for y in (-h, h) for z in (-h, h)],
                   weights=[1] * 8),
    'wedge15': dict(corners=[(0, 0, -1), (1, 0, -1), (0, 1, -1), (0, 0, 1), (1, 0, 1), (0, 1, 1)],
                    edges=[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
                    spans=lambda i, j, k: (i + j <= 2 and k <= 1) or (i + j <= 1 and k == 2),
                    points=[(x, y, z) for z in (-G, 0, G) for x, y in TRIANGLE],
                    weights=[w / 6 for w in (5 / 9, 8 / 9, 5 / 9) for _ in TRIANGLE]),
}


def member(path, name):
    return np.load(path)[name]


def main():
    mesh, like, out = np.load(sys.argv[1]), dict(np.load(sys.argv[2])), sys.argv[3]
    density = json.loads(mesh['meta'].tobytes())['materials'][0]['density']
    name = next(n for n in TYPES if n in mesh.files)
    of, X, elements = TYPES[name], mesh['vertices'], mesh[name]
    places = np.array(of['corners'] + [tuple((np.array(of['corners'][p]) + of['corners'][q]) / 2) for p, q in of['edges']], float)
    powers = [(i, j, k) for i in range(3) for j in range(3) for k in range(3) if of['spans'](i, j, k)]
    assert len(powers) == len(places) == elements.shape[1], (len(powers), len(places))

    def monomials(p):
        return np.array([p[0]**i * p[1]**j * p[2]**k for i, j, k in powers])

    def slopes(p):
        one = [[(p[n]**(e - 1) * e if e else 0.0) for e in range(3)] for n in range(3)]
        up = [[p[n]**e for e in range(3)] for n in range(3)]
        return np.array([[one[0][i] * up[1][j] * up[2][k], up[0][i] * one[1][j] * up[2][k], up[0][i] * up[1][j] * one[2][k]] for i, j, k in powers])

    inverse = np.linalg.inv(np.array([monomials(p) for p in places]))
    local = np.zeros((len(elements), len(places), len(places)))
    for p, w in zip(of['points'], of['weights']):
        N, dN = monomials(p) @ inverse, inverse.T @ slopes(p)
        local += density * w * np.linalg.det(np.einsum('eai,aj->eij', X[elements], dN))[:, None, None] * np.outer(N, N)
    # entry (p, q) of the free degrees of freedom is at the place of p n + q among those of the pattern
    n, start, index = 3 * len(X), like['indptr'], like['indices']
    free = np.ones(n, bool)
    free[3 * np.repeat(mesh['fixed'], 3) + np.tile(range(3), len(mesh['fixed']))] = False
    number = np.cumsum(free) - 1
    rows = np.repeat(np.arange(len(start) - 1), np.diff(start))
    order = np.argsort(rows * n + index)
    keys, data = (rows * n + index)[order], np.zeros(len(index))
    for c in range(3):
        p, q = 3 * elements[:, :, None] + c + 0 * elements[:, None], 3 * elements[:, None] + c + 0 * elements[:, :, None]
        both = free[p] & free[q]
        np.add.at(data, order[np.searchsorted(keys, number[p[both]] * n + number[q[both]])], local[both])
    like['data'] = data
    np.savez(out, **like)


main()
