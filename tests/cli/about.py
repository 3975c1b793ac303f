"""Beams for tests of modes about an equilibrium and of buckling, and their frequencies and loads by beam theory.

about.py deck TYPE NX NY NZ LENGTH HEIGHT YOUNG POISSON FILE   writes a square beam along x as an Abaqus deck, with the sets ROOT and TIP
about.py rotating ETA...             lowest flap frequency of a clamped beam that rotates about its root, each in units of sqrt(EI / (m L^4))
about.py tight TENSION               lowest frequency of a beam clamped at both ends, tension in units of EI / L^2, in the same units
about.py pulled TENSION              the same for a beam clamped at one end, with a dead axial force at the other
"""
import sys

import typed


def deck(name, nx, ny, nz, length, height, young, poisson, path):
    elements, number = typed.grid(name, nx, ny, nz)

    def place(h):
        return (length * h[0] / (2 * nx), height * (h[1] / (2 * ny) - 0.5), height * (h[2] / (2 * nz) - 0.5))

    with open(path, 'w') as out:
        typed.write_elements(out, name, elements, number, place)
        typed.write_set(out, 'ROOT', [n for h, n in number.items() if h[0] == 0])
        typed.write_set(out, 'TIP', [n for h, n in number.items() if h[0] == 2 * nx])
        print('*SURFACE, NAME=END\n' + '\n'.join(faces(elements, nx)), file=out)
        print('*MATERIAL, NAME=STUFF\n*ELASTIC\n%r, %r\n*DENSITY\n1000.\n*SOLID SECTION, ELSET=EALL, MATERIAL=STUFF\n*BOUNDARY\n'
              'ROOT, 1, 3' % (young, poisson), file=out)


def faces(elements, nx):
    """The element faces at the tip, as Abaqus numbers them."""
    corners = {8: [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
               4: [(0, 1, 2), (0, 1, 3), (1, 2, 3), (2, 0, 3)]}
    for e, half in enumerate(elements):
        for f, face in enumerate(corners[8 if len(half) in (8, 20) else 4]):
            if all(half[a][0] == 2 * nx for a in face):
                yield '%d, S%d' % (e + 1, f + 1)


def ritz(clamps, tension, terms=14):
    """The lowest frequency of a beam of unit length, mass and bending stiffness under a tension that may vary, with polynomials that meet the
    clamps: w = x^2 p or x^2 (1 - x)^2 p, p Legendre polynomials. Energies are integrated by Gauss's rule, which is exact."""
    import numpy as np
    from numpy.polynomial import Polynomial, legendre
    x, weight = legendre.leggauss(40)
    x, weight = (x + 1) / 2, weight / 2
    edge = Polynomial([0, 0, 1]) * (Polynomial([1, -2, 1]) if clamps == 2 else Polynomial([1]))
    w = [edge * legendre.Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in range(terms)]
    value, slope, bend = (np.array([f.deriv(d)(x) if d else f(x) for f in w]) for d in range(3))
    mass = (value * weight) @ value.T
    stiffness = (bend * weight) @ bend.T + (slope * weight * tension(x)) @ slope.T
    half = np.linalg.inv(np.linalg.cholesky(mass))
    return np.sqrt(np.linalg.eigvalsh(half @ stiffness @ half.T)[0])


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == 'deck':
        deck(rest[0], *map(int, rest[1:4]), *map(float, rest[4:8]), rest[8])
    elif what == 'rotating':
        for eta in map(float, rest):
            print('%.9g' % ritz(1, lambda x: eta ** 2 * (1 - x * x) / 2))
    else:
        print('%.9g' % ritz(2 if what == 'tight' else 1, lambda x: float(rest[0]) + 0 * x))


if __name__ == '__main__':
    main()
