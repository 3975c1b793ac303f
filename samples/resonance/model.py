"""A beam or a shallow arch of 20-node hexahedra in one row, clamped at both ends, as an Abaqus deck on standard output:

    model.py ELEMENTS LENGTH WIDTH THICKNESS RISE

in metres. Its centre line is z = RISE sin(pi x / LENGTH). The material is steel without contraction (Poisson's ratio 0), so that beam
theory is its limit."""
import math
import sys

elements = int(sys.argv[1])
length, width, thickness, rise = map(float, sys.argv[2:6])
# The nodes of C3D20 in half cells.
CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
PLACES = CORNERS + [tuple((a + b) // 2 for a, b in zip(CORNERS[i], CORNERS[k])) for i, k in EDGES]

number = {}
print('*NODE')
for i in range(2 * elements + 1):
    x = length * i / (2 * elements)
    z = rise * math.sin(math.pi * x / length)
    slope = rise * math.pi / length * math.cos(math.pi * x / length)
    for j in range(3):
        for k in range(3):
            if i % 2 + j % 2 + k % 2 < 2:
                number[i, j, k] = len(number) + 1
                off = thickness * (k - 1) / 2 / math.hypot(1, slope)
                print('%d, %.17g, %.17g, %.17g' % (number[i, j, k], x - off * slope, width * (j - 1) / 2, z + off))
print('*ELEMENT, TYPE=C3D20, ELSET=ALL')
for e in range(elements):
    nodes = [number[2 * e + i, j, k] for i, j, k in PLACES]
    print('%d, %s,\n%s' % (e + 1, ', '.join(map(str, nodes[:12])), ', '.join(map(str, nodes[12:]))))
print('*NSET, NSET=ENDS')
for (i, j, k), n in number.items():
    if i in (0, 2 * elements):
        print(n)
print('*MATERIAL, NAME=STEEL\n*ELASTIC\n200e9, 0\n*DENSITY\n7800')
print('*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n*BOUNDARY\nENDS, 1, 3')
