"""An angle bracket with a bore, as Gmsh writes a mesh with named surfaces: python3 model.py >bracket.msh

Hexahedra of 20 nodes, in version 2.2 of Gmsh's format. Lengths are in m. The leg at the wall is in the plane y, z; the other one
points along x. Physical surfaces: "wall", the back of the first leg, "bore", the surface of the hole, and "top" of the second leg.
The physical volume is "acetal".
"""
from math import atan2, cos, pi, sin

WIDTH, LENGTH, HEIGHT, THICK, RADIUS = 0.04, 0.10, 0.06, 0.006, 0.009
AROUND, RINGS, ALONG, UP, LAYERS = 4, 3, 5, 5, 2  # cells: of each side of the block with the bore, and so on
CENTRE = LENGTH - WIDTH / 2

CORNER = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
# the edges of 20-node hexahedra, and of their faces, in Gmsh's order
EDGES = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)]
FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]

places, numbers, cells = [], {}, []


def node(x):
    key = tuple(round(c * 1e9) for c in x)
    if key not in numbers:
        numbers[key] = len(places) + 1
        places.append(x)
    return numbers[key]


def on_bore(x):
    return abs((x[0] - CENTRE) ** 2 + x[1] ** 2 - RADIUS ** 2) < 1e-9


def middle(a, b):
    """Of an edge; of two points of the bore it is on the bore."""
    m = [(p + q) / 2 for p, q in zip(a, b)]
    if on_bore(a) and on_bore(b) and a[2] == b[2]:
        angle = atan2(m[1], m[0] - CENTRE)
        m = [CENTRE + RADIUS * cos(angle), RADIUS * sin(angle), m[2]]
    return m


def grid(place, nu, nv, nw):
    """The cells of a block, place(u, v, w) with u, v, w from 0 to 1."""
    for k in range(nw):
        for j in range(nv):
            for i in range(nu):
                cells.append([place((i + (c[0] > 0)) / nu, (j + (c[1] > 0)) / nv, (k + (c[2] > 0)) / nw) for c in CORNER])


def sector(side):
    """A quarter of the block around the bore: u along its side, v from the bore to the side."""
    def place(u, v, w):
        angle = pi / 2 * (side + u) - pi / 4
        half, along = WIDTH / 2, WIDTH * (u - 0.5)
        outer = [(half, along), (-along, half), (-half, -along), (along, -half)][side]
        inner = RADIUS * cos(angle), RADIUS * sin(angle)
        t = v ** 1.3
        return [CENTRE + (1 - t) * inner[0] + t * outer[0], (1 - t) * inner[1] + t * outer[1], THICK * w]
    return place


for side in range(4):
    # v, u: the corners turn counterclockwise as seen from above
    at = sector(side)
    grid(lambda u, v, w, at=at: at(v, u, w), RINGS, AROUND, LAYERS)
grid(lambda u, v, w: [(LENGTH - WIDTH) * u, WIDTH * (v - 0.5), THICK * w], ALONG, AROUND, LAYERS)
grid(lambda u, v, w: [THICK * (u - 1), WIDTH * (v - 0.5), THICK * w], LAYERS, AROUND, LAYERS)
grid(lambda u, v, w: [THICK * (u - 1), WIDTH * (v - 0.5), THICK + (HEIGHT - THICK) * w], LAYERS, AROUND, UP)

GROUPS = {
    1: lambda x: abs(x[0] + THICK) < 1e-9,
    2: on_bore,
    3: lambda x: abs(x[2] - THICK) < 1e-9 and x[0] > -1e-9,
}

elements = []
for cell in cells:
    nodes = [node(x) for x in cell] + [node(middle(cell[a], cell[b])) for a, b in EDGES]
    for group, within in GROUPS.items():
        for face in FACES:
            corners = [cell[a] for a in face]
            if all(within(x) for x in corners):
                sides = [node(middle(corners[a], corners[(a + 1) % 4])) for a in range(4)]
                elements.append((16, group, [node(x) for x in corners] + sides))
    elements.append((17, 4, nodes))

print('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n4\n2 1 "wall"\n2 2 "bore"\n2 3 "top"\n3 4 "acetal"\n$EndPhysicalNames')
print('$Nodes', len(places), sep='\n')
for n, x in enumerate(places):
    print(n + 1, *x)
print('$EndNodes\n$Elements', len(elements), sep='\n')
for n, (kind, group, nodes) in enumerate(elements):
    print(n + 1, kind, 2, group, group, *nodes)
print('$EndElements')
