"""Writes an arch of solid elements of one type as an Abaqus deck (.inp) or for Gmsh (.msh, version 2.2): typed.py TYPE NX NY NZ FILE.

The arch is a quarter of a ring of mean radius 1 m with a cross-section of 0.2 x 0.3 m. All nodes lie on it, so that the elements of
second order have curved edges. Nodes are numbered along x, y, z of a grid of half cells; those that no element uses are left out.
"""
import math
import sys

CORNERS = {
    'hex': [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)],
    'tet': [[(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)], [(0, 0, 0), (1, 1, 0), (0, 1, 0), (1, 1, 1)],
            [(0, 0, 0), (0, 1, 0), (0, 1, 1), (1, 1, 1)], [(0, 0, 0), (0, 1, 1), (0, 0, 1), (1, 1, 1)],
            [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1)], [(0, 0, 0), (1, 0, 1), (1, 0, 0), (1, 1, 1)]],
    'wedge': [[(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1)],
              [(0, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0, 1, 1)]],
}
# The middles of edges in the order of Abaqus and of Gmsh.
EDGES = {
    'hex': [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
    'tet': [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    'wedge': [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
}
GMSH_EDGES = {
    'hex': [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)],
    'tet': [(0, 1), (1, 2), (2, 0), (0, 3), (2, 3), (1, 3)],
    'wedge': [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5)],
}
GMSH = {'C3D8': 5, 'C3D4': 4, 'C3D6': 6, 'C3D10': 11, 'C3D20': 17, 'C3D15': 18}


def grid(name, nx, ny, nz, gmsh=False):
    """The elements of a box of nx x ny x nz cells, each a list of nodes as places in half cells, and the numbers of the places from 1."""
    nodes = int(''.join(c for c in name[3:] if c.isdigit()))
    shape = {4: 'tet', 10: 'tet', 6: 'wedge', 15: 'wedge', 8: 'hex', 20: 'hex'}[nodes]
    pieces = CORNERS[shape] if shape != 'hex' else [CORNERS['hex']]
    edges = (GMSH_EDGES if gmsh else EDGES)[shape] if nodes > 8 or nodes == 10 else []
    used, elements = {}, []
    for cell in range(nx * ny * nz):
        at = (cell % nx, cell // nx % ny, cell // nx // ny)
        for corners in pieces:
            half = [tuple(2 * (at[i] + c[i]) for i in range(3)) for c in corners]
            half += [tuple((half[a][i] + half[b][i]) // 2 for i in range(3)) for a, b in edges]
            elements.append(half)
            used.update(dict.fromkeys(half))
    return elements, {key: i + 1 for i, key in enumerate(sorted(used, key=lambda h: (h[2], h[1], h[0])))}


def write_elements(out, name, elements, number, place):
    """The nodes and elements of an Abaqus deck, in the sets NALL and EALL; place maps half cells to a point."""
    print('*NODE, NSET=NALL', file=out)
    for h, n in number.items():
        print('%d, %.13g, %.13g, %.13g' % (n, *place(h)), file=out)
    print('*ELEMENT, TYPE=%s, ELSET=EALL' % name, file=out)
    for i, half in enumerate(elements):
        line = [i + 1] + [number[h] for h in half]
        print(', '.join(map(str, line[:16])) + (',' if len(line) > 16 else ''), file=out)
        if len(line) > 16:
            print(', '.join(map(str, line[16:])), file=out)


def write_set(out, name, nodes):
    print('*NSET, NSET=%s' % name, file=out)
    for n in nodes:
        print('%d,' % n, file=out)


def main():
    name, nx, ny, nz, path = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    gmsh = path.endswith('.msh')
    elements, number = grid(name, nx, ny, nz, gmsh)

    def place(h):
        angle, radius = math.pi / 4 * h[0] / nx, 0.9 + 0.1 * h[1] / ny
        return (radius * math.sin(angle), radius * math.cos(angle), 0.15 * h[2] / nz)

    with open(path, 'w') as out:
        if gmsh:
            print('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d' % len(number), file=out)
            for h, n in number.items():
                print(n, *map(repr, place(h)), file=out)
            print('$EndNodes\n$Elements\n%d' % len(elements), file=out)
            for i, half in enumerate(elements):
                print(i + 1, GMSH[name], 2, 1, 1, *[number[h] for h in half], file=out)
            print('$EndElements', file=out)
            return
        write_elements(out, name, elements, number, place)
        write_set(out, 'END', [n for h, n in number.items() if h[0] == 0])
        print('*MATERIAL, NAME=STEEL\n*ELASTIC\n210e9, 0.3\n*DENSITY\n7850\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*BOUNDARY\n'
              'END, 1, 3', file=out)


if __name__ == '__main__':
    main()
