"""Writes a curved body of solid elements of one type as an Abaqus deck (.inp) or for Gmsh (.msh, version 2.2):
typed.py TYPE NX NY NZ FILE [BODY].

arch     A quarter of a ring of mean radius 1 m with a cross-section of 0.2 x 0.3 m. This is the default.
blade    1 m long and twisted by 45 degrees, with a cross-section from 0.2 x 0.04 m to half of that.
dome     A part of a spherical shell of radius 1 m, 60 x 60 degrees, 0.05 m thick.

All nodes lie on the body, so that the elements of second order have curved edges. Nodes are numbered along x, y, z of a grid of half cells;
those that no element uses are left out. The nodes at one end are the set END, which is fixed; those at the other end are the set TIP.
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


def arch(s, t, r):
    angle, radius = math.pi / 2 * s, 0.9 + 0.2 * t
    return (radius * math.sin(angle), radius * math.cos(angle), 0.3 * r)


def blade(s, t, r):
    angle, y, z = math.pi / 4 * s, 0.2 * (1 - s / 2) * (t - 0.5), 0.04 * (1 - s / 2) * (r - 0.5)
    return (s, y * math.cos(angle) - z * math.sin(angle), y * math.sin(angle) + z * math.cos(angle))


def dome(s, t, r):
    length, width, radius = math.pi / 3 * s, math.pi / 3 * (t - 0.5), 0.95 + 0.05 * r
    return (radius * math.sin(length) * math.cos(width), radius * math.sin(width), radius * math.cos(length) * math.cos(width))


def main():
    name, nx, ny, nz, path = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
    body = {'arch': arch, 'blade': blade, 'dome': dome}[sys.argv[6] if len(sys.argv) > 6 else 'arch']
    gmsh = path.endswith('.msh')
    elements, number = grid(name, nx, ny, nz, gmsh)

    def place(h):
        return body(h[0] / (2 * nx), h[1] / (2 * ny), h[2] / (2 * nz))

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
        write_set(out, 'TIP', [n for h, n in number.items() if h[0] == 2 * nx])
        print('*MATERIAL, NAME=STEEL\n*ELASTIC\n210e9, 0.3\n*DENSITY\n7850\n*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n*BOUNDARY\n'
              'END, 1, 3', file=out)


if __name__ == '__main__':
    main()
