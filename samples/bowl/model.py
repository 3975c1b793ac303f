"""A bowl or a flat disk as a mesh of second order, as an Abaqus file on standard output: model.py bowl|gong

Rings of 20-node hexahedra around 15-node wedges at the axis, one element through the thickness. The bowl is a part of a
sphere, open at the top, and fixed at its foot; the disk is clamped at its rim. Bronze.
"""

import math
import sys

SHAPES = {
    # radius of the sphere (0: flat), radius along the surface, thickness [m], rings, sectors
    "bowl": (0.07, 0.105, 0.002, 10, 32),
    "gong": (0, 0.12, 0.0008, 12, 32),
}
YOUNG, POISSON, DENSITY = 105e9, 0.34, 8700


def place(shape, i, j, k):
    """Node i of 2 rings outward, j of 2 sectors around, k = 0, 1, 2 through the thickness."""
    sphere, length, thickness, rings, sectors = SHAPES[shape]
    s, offset = length * i / (2 * rings), thickness * (k - 1) / 2
    angle = math.pi * j / sectors
    if sphere:
        r, z = (sphere - offset) * math.sin(s / sphere), sphere - (sphere - offset) * math.cos(s / sphere)
    else:
        r, z = s, offset
    return r * math.cos(angle), r * math.sin(angle), z


def main(shape):
    rings, sectors = SHAPES[shape][3:]
    number, nodes = {}, []

    def node(i, j, k):
        key = (i, j % (2 * sectors) if i else 0, k)
        if key not in number:
            number[key] = len(nodes) + 1
            nodes.append(place(shape, *key))
        return number[key]

    wedges, bricks = [], []
    for j in range(0, 2 * sectors, 2):
        low, high = ([(0, j, k), (2, j, k), (2, j + 2, k)] for k in (0, 2))
        middle = ([(1, j, k), (2, j + 1, k), (1, j + 2, k)] for k in (0, 2))
        wedges.append([node(*p) for p in [*low, *high, *next(middle), *next(middle), (0, j, 1), (2, j, 1), (2, j + 2, 1)]])
        for i in range(2, 2 * rings, 2):
            corners = [(i, j), (i + 2, j), (i + 2, j + 2), (i, j + 2)]
            edges = [(i + 1, j), (i + 2, j + 1), (i + 1, j + 2), (i, j + 1)]
            points = [(*p, k) for k in (0, 2) for p in corners] + [(*p, k) for k in (0, 2) for p in edges] + [(*p, 1) for p in corners]
            bricks.append([node(*p) for p in points])
    fixed = [n for (i, _, _), n in number.items() if (i <= 2 if shape == "bowl" else i == 2 * rings)]

    print("*NODE")
    for n, p in enumerate(nodes, 1):
        print(f"{n}, " + ", ".join(f"{c:.12g}" for c in p))
    count = 0
    for kind, elements in ("C3D15", wedges), ("C3D20", bricks):
        print(f"*ELEMENT, TYPE={kind}, ELSET=ALL")
        for element in elements:
            count += 1
            line = [count, *element]
            print(", ".join(map(str, line[:11])) + ",\n" + ", ".join(map(str, line[11:])))
    print("*NSET, NSET=FIXED\n" + "\n".join(map(str, sorted(fixed))))
    print(f"*MATERIAL, NAME=BRONZE\n*ELASTIC\n{YOUNG}, {POISSON}\n*DENSITY\n{DENSITY}")
    print("*SOLID SECTION, ELSET=ALL, MATERIAL=BRONZE\n*BOUNDARY\nFIXED, 1, 3")


main(sys.argv[1])
