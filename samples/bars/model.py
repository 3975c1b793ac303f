#!/usr/bin/env python3
"""Write a body of tetrahedra as Medit's .mesh to standard output.

    python3 model.py bar LENGTH WIDTH [CELLS] > bar.mesh   a bar along x, cells of 0.09 m along it and WIDTH / 4 across, or CELLS cubes across
    python3 model.py hanging LENGTH WIDTH > bar.mesh       the same along -z
    python3 model.py tube > tube.mesh                      a tube of 0.5 x 0.13 m, turned by 45 degrees, its lowest vertex 0.5 m above z = 0

Every cell is split into six tetrahedra of positive volume. Lengths in m.
"""

import math
import pathlib
import sys
from itertools import permutations

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_lines

ALONG, ACROSS = 0.09, 4  # m, cells
RADII, LENGTH, HEIGHT = (0.035, 0.065), 0.5, 0.5  # of the tube, m
AROUND, LAYERS = 12, 14  # its cells


def determinant(corners):
    (a, b, c), (d, e, f), (g, h, i) = ([p - q for p, q in zip(corner, corners[0])] for corner in corners[1:])
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def split(cells, number, vertices):
    """Six tetrahedra along the diagonal of every cell (i, j, k) of a grid."""
    tetrahedra = []
    for i, j, k in cells:
        for order in permutations((1, 2, 4)):
            tet = [number(i + (m & 1), j + (m >> 1 & 1), k + (m >> 2)) for m in (0, order[0], order[0] | order[1], 7)]
            if determinant([vertices[v] for v in tet]) < 0:
                tet[2], tet[3] = tet[3], tet[2]
            tetrahedra.append(tet)
    return tetrahedra


def bar(length, width, hanging, across=0):
    layers = round(across * length / width) if across else round(length / ALONG)
    across = across or ACROSS
    vertices = []
    for i in range(layers + 1):
        for j in range(across + 1):
            for k in range(across + 1):
                x, y, z = length * i / layers, width * j / across, width * k / across
                vertices.append((z, y, -x) if hanging else (x, y, z))
    cells = [(i, j, k) for i in range(layers) for j in range(across) for k in range(across)]
    return vertices, split(cells, lambda i, j, k: (i * (across + 1) + j) * (across + 1) + k, vertices)


def tube():
    vertices, c = [], math.sqrt(0.5)
    for i in range(LAYERS + 1):
        for j in range(AROUND):
            for radius in RADII:
                angle, z = 2 * math.pi * j / AROUND, LENGTH * i / LAYERS
                x, y = radius * math.cos(angle), radius * math.sin(angle)
                vertices.append((c * (x + z), y, c * (z - x)))
    lowest = min(z for _, _, z in vertices)
    vertices = [(x, y, z - lowest + HEIGHT) for x, y, z in vertices]
    cells = [(i, j, 0) for i in range(LAYERS) for j in range(AROUND)]
    return vertices, split(cells, lambda i, j, k: (i * AROUND + j % AROUND) * 2 + k, vertices)


def main():
    words = sys.argv[1:]
    if words == ["tube"]:
        vertices, tetrahedra = tube()
    elif len(words) in (3, 4) and words[0] in ("bar", "hanging"):
        vertices, tetrahedra = bar(float(words[1]), float(words[2]), words[0] == "hanging", int(words[3]) if len(words) > 3 else 0)
    else:
        print("usage: model.py bar LENGTH WIDTH [CELLS] | hanging LENGTH WIDTH | tube > body.mesh", file=sys.stderr)
        return 2
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(vertices))]
    lines += ["%.9g %.9g %.9g 1" % vertex for vertex in vertices]
    lines += ["Tetrahedra", str(len(tetrahedra))]
    lines += ["%d %d %d %d 1" % tuple(v + 1 for v in tet) for tet in tetrahedra]
    return write_lines(lines + ["End"])


if __name__ == "__main__":
    sys.exit(main())
