"""Plates of solid elements under a pressure, and their stresses.

plates.py BODY TYPE NX NY NZ OUT.inp OUT.csv writes the mesh as an Abaqus deck with its boundary conditions and its upper face as the set of
faces TOP, and the pressure as forces at the nodes. BODY:

le10     A quarter of a thick plate between two ellipses with 1 MPa on its upper face: NAFEMS, The Standard NAFEMS Benchmarks (1990), LE10.
         x runs outward, y around from the point D (2, 0, 0.6) m, z upward.
clamped  A quarter of a square plate of side 1 m and thickness 1 cm with 1 kPa on its upper face, clamped along its edges.
simple   The same, simply supported: at the edges there is no displacement along them or in z.

The nodal forces of the pressure are consistent with the shape functions of the elements, which are found here from the polynomials that they
span in the grid of cells, not from formulas.

plates.py stress BODY TYPE NX NY NZ STATIC.npz prints the displacement u_z in m and the stresses xx and yy in Pa of the linear theory at the
point D, or at the centre of the upper face of a square plate: the mean over the elements there.
"""
import functools
import sys

import numpy as np

from typed import grid, write_elements, write_set

THICK = {'le10': 0.6, 'clamped': 0.01, 'simple': 0.01}
PRESSURE = {'le10': 1e6, 'clamped': 1e3, 'simple': 1e3}
YOUNG, POISSON = 210e9, 0.3
SPANS = { # by the number of nodes: the powers of x, y and z in a cell
    4: lambda i, j, k: i + j + k <= 1, 10: lambda i, j, k: i + j + k <= 2, 8: lambda i, j, k: max(i, j, k) <= 1,
    20: lambda i, j, k: sum(e for e in (i, j, k) if e > 1) <= 2,
    15: lambda i, j, k: (i + j <= 2 and k <= 1) or (i + j <= 1 and k == 2),
}
FACES = { # of an upper face, also by the number of its nodes: the powers of x and y
    3: lambda i, j: i + j <= 1, 6: lambda i, j: i + j <= 2, 4: lambda i, j: max(i, j) <= 1, 8: lambda i, j: min(i, j) == 0 or i + j <= 3,
}


TOPS = { # by the corners on the upper face: the name of a face in Abaqus
    'hex': {(4, 5, 6, 7): 'S2'}, 'wedge': {(3, 4, 5): 'S2'}, 'tet': {(0, 1, 2): 'S1', (0, 1, 3): 'S2', (1, 2, 3): 'S3', (0, 2, 3): 'S4'},
}
SHAPES = {4: 'tet', 10: 'tet', 6: 'wedge', 15: 'wedge', 8: 'hex', 20: 'hex'}


def placer(body, n):
    def place(h):
        s, t, z = (h[i] / (2 * n[i]) for i in range(3))
        if body != 'le10':
            return (s / 2, t / 2, THICK[body] * (z - 0.5))
        angle = np.pi / 2 * t
        return ((2 + 1.25 * s) * np.cos(angle), (1 + 1.75 * s) * np.sin(angle), THICK[body] * z)
    return place


def shape_functions(places, spans, at):
    """The values and slopes, at the point `at`, of the shape functions of nodes at places."""
    places = np.array(places, float)
    d = places.shape[1]
    powers = [p for p in np.ndindex((3,) * d) if spans(*p)]
    assert len(powers) == len(places)
    inverse = np.linalg.inv(np.array([[np.prod(x**np.array(p)) for p in powers] for x in places]))
    values = [np.prod(np.array(at)**np.array(p)) for p in powers]
    slopes = [[np.prod([p[i] * at[i]**max(p[i] - 1, 0) if i == j else at[i]**p[i] for i in range(d)]) for j in range(d)] for p in powers]
    return values @ inverse, inverse.T @ slopes


def points(corners):
    """Points and weights that integrate over a triangle of a unit square, or over all of the square."""
    x, w = np.polynomial.legendre.leggauss(6)
    x, w = (x + 1) / 2, w / 2
    for a, v in zip(x, w):
        for b, u in zip(x, w):
            if len(corners) == 3:
                p, q, r = map(np.array, corners)
                yield p + a * (q - p) + a * b * (r - q), u * v * a
            else:
                yield np.array([a, b]), u * v


@functools.cache
def face_rule(places):
    """For a face whose nodes are at places in half cells: weights, values and slopes of its shape functions at points."""
    flat = np.array(places) / 2
    corners = [c for c in flat if all(c % 1 == 0)]
    rule = [(w, *shape_functions(flat, FACES[len(places)], at)) for at, w in points(corners)]
    return tuple(map(np.array, zip(*rule)))


def forces(body, n, elements, place):
    """The force in z of every node on the upper face."""
    total = {}
    for half in elements:
        face = [h for h in half if h[2] == 2 * n[2]]
        if sum(h[0] % 2 == h[1] % 2 == 0 for h in face) < 3: # only an edge or a corner is on the upper face
            continue
        low = np.min(face, axis=0)
        weights, values, slopes = face_rule(tuple((int(h[0] - low[0]), int(h[1] - low[1])) for h in face))
        area = weights * abs(np.linalg.det(np.array([place(h)[:2] for h in face]).T @ slopes))
        for h, share in zip(face, -PRESSURE[body] * area @ values):
            total[h] = total.get(h, 0) + share
    return total


def write(body, name, n, deck, loads):
    elements, number = grid(name, *n)
    place, last = placer(body, n), [2 * k for k in n]
    sets = {
        'le10': {'AB': (lambda h: h[1] == last[1], '1'), 'DC': (lambda h: h[1] == 0, '2'), 'BC': (lambda h: h[0] == last[0], '1,2'),
                 'MIDDLE': (lambda h: h[0] == last[0] and h[2] == n[2], '3,3')},
        'clamped': {'X': (lambda h: h[0] == 0, '1'), 'Y': (lambda h: h[1] == 0, '2'), 'EDGE': (lambda h: h[0] == last[0] or h[1] == last[1], '1,2'),
                    'MIDDLE': (lambda h: (h[0] == last[0] or h[1] == last[1]) and h[2] == n[2], '3,3')},
        'simple': {'X': (lambda h: h[0] == 0, '1'), 'Y': (lambda h: h[1] == 0, '2'), 'RIGHT': (lambda h: h[0] == last[0], '2,3'),
                   'BACK': (lambda h: h[1] == last[1], '3'), 'BACKX': (lambda h: h[1] == last[1], '1')},
    }[body]
    with open(deck, 'w') as out:
        write_elements(out, name, elements, number, place)
        for title, (chosen, axes) in sets.items():
            write_set(out, title, [i for h, i in number.items() if chosen(h)])
        print('*SURFACE, NAME=TOP, TYPE=ELEMENT', file=out)
        for i, half in enumerate(elements):
            corners = tuple(a for a, h in enumerate(half) if h[2] == last[2] and all(k % 2 == 0 for k in h))
            face = TOPS[SHAPES[len(half)]].get(corners)
            if face:
                print('%d, %s' % (i + 1, face), file=out)
        print('*MATERIAL, NAME=STEEL\n*ELASTIC\n%r, %r\n*DENSITY\n7850\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*BOUNDARY' % (YOUNG, POISSON), file=out)
        for title, (chosen, axes) in sets.items():
            print('%s, %s' % (title, axes), file=out)
    with open(loads, 'w') as out:
        for h, f in forces(body, n, elements, place).items():
            print('0,inf,vertex,%d,0,0,%r' % (number[h] - 1, float(f)), file=out)


def stress(body, name, n, path):
    elements, number = grid(name, *n)
    place, at = placer(body, n), (0, 0, 2 * n[2])
    result = np.load(path)
    U = result[max(m for m in result.files if m.startswith('u/'))][-1]
    mu, lam = YOUNG / (2 + 2 * POISSON), YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
    found = []
    for half in elements:
        if at not in half:
            continue
        X, low = np.array([place(h) for h in half]), np.array(half).min(axis=0)
        _, slope = shape_functions((np.array(half) - low) / 2, SPANS[len(half)], (np.array(at) - low) / 2)
        H = U[[number[h] - 1 for h in half]].T @ slope @ np.linalg.inv(X.T @ slope)
        strain = (H + H.T) / 2
        found.append(lam * np.trace(strain) * np.eye(3) + 2 * mu * strain)
    mean = np.mean(found, axis=0)
    print('%.6e %.6e %.6e' % (U[number[at] - 1][2], mean[0, 0], mean[1, 1]))


def main():
    if sys.argv[1] == 'stress':
        stress(sys.argv[2], sys.argv[3], [int(a) for a in sys.argv[4:7]], sys.argv[7])
    else:
        write(sys.argv[1], sys.argv[2], [int(a) for a in sys.argv[3:6]], *sys.argv[6:8])


main()
