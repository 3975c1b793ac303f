"""Prints the clamped beam as a mesh of one element type: model.py TYPE NX NY NZ.

The beam is 1000 x 10 x 24 micrometres along x, y and z. A cell of its grid is one hexahedron, two wedges or six tetrahedra. The mesh is an
Abaqus deck, or a Gmsh file for hex27 and wedge18.
"""
import sys

SIZE = (1000e-6, 10e-6, 24e-6)
HEXAHEDRON = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
TETRAHEDRA = [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]]
WEDGES = [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]]
# Middle nodes are the means of corners. Abaqus and Gmsh have orders of their own.
HEX_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
TET_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
WEDGE_EDGES = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]
GMSH_HEX = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7),
            (0, 3, 2, 1), (0, 1, 5, 4), (0, 4, 7, 3), (1, 2, 6, 5), (2, 3, 7, 6), (4, 5, 6, 7), tuple(range(8))]
GMSH_WEDGE = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (3, 5), (4, 5), (0, 1, 4, 3), (0, 2, 5, 3), (1, 2, 5, 4)]
# By the names that Supple gives to types: the corners of the pieces of a cell, the corners whose mean is each middle node, and the name in
# Abaqus or the number in Gmsh. hex8b is made of C3D8 by simimport --hexahedra averaged.
TYPES = {
    'tet': (TETRAHEDRA, [], 'C3D4'), 'tet10': (TETRAHEDRA, TET_EDGES, 'C3D10'),
    'wedge6': (WEDGES, [], 'C3D6'), 'wedge15': (WEDGES, WEDGE_EDGES, 'C3D15'), 'wedge18': (WEDGES, GMSH_WEDGE, 13),
    'hex': ([range(8)], [], 'C3D8'), 'hex8b': ([range(8)], [], 'C3D8'), 'hex8i': ([range(8)], [], 'C3D8I'),
    'hex20': ([range(8)], HEX_EDGES, 'C3D20'), 'hex20r': ([range(8)], HEX_EDGES, 'C3D20R'), 'hex27': ([range(8)], GMSH_HEX, 12),
}


def main():
    name, cells = sys.argv[1], [int(a) for a in sys.argv[2:5]]
    pieces, middles, other = TYPES[name]
    number, elements = {}, []
    for cell in range(cells[0] * cells[1] * cells[2]):
        at = (cell % cells[0], cell // cells[0] % cells[1], cell // cells[0] // cells[1])
        for piece in pieces:
            corners = [tuple(8 * (at[i] + HEXAHEDRON[c][i]) for i in range(3)) for c in piece] # in eighths, for exact means
            nodes = corners + [tuple(sum(corners[c][i] for c in middle) // len(middle) for i in range(3)) for middle in middles]
            elements.append([number.setdefault(node, len(number) + 1) for node in nodes])
    places = [(n, [SIZE[i] * node[i] / (8 * cells[i]) for i in range(3)]) for node, n in number.items()]
    if isinstance(other, int):
        print('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d' % len(places))
        for n, x in places:
            print(n, *map(repr, x))
        print('$EndNodes\n$Elements\n%d' % len(elements))
        for e, nodes in enumerate(elements):
            print(e + 1, other, 2, 1, 1, *nodes)
        print('$EndElements')
        return
    print('*NODE')
    for n, x in places:
        print('%d, %.15g, %.15g, %.15g' % (n, *x))
    print('*ELEMENT, TYPE=%s, ELSET=BEAM' % other)
    for e, nodes in enumerate(elements):
        line = [str(n) for n in [e + 1] + nodes]
        print(', '.join(line[:16]) + (',\n' + ', '.join(line[16:]) if len(line) > 16 else ''))


main()
