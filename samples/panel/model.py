"""A rectangular panel of 8-node hexahedra with incompatible modes, clamped along its edges, as an Abaqus deck on standard output:

    model.py NX NY LENGTH WIDTH THICKNESS

in metres. Its upper face is the set of faces TOP. The material is aluminium."""
import sys

nx, ny = int(sys.argv[1]), int(sys.argv[2])
length, width, thickness = map(float, sys.argv[3:6])


def number(i, j, k):
    return 1 + i + (nx + 1) * (j + (ny + 1) * k)


print('*NODE')
for k in range(2):
    for j in range(ny + 1):
        for i in range(nx + 1):
            print('%d, %.17g, %.17g, %.17g' % (number(i, j, k), length * i / nx, width * j / ny, thickness * (k - 0.5)))
print('*ELEMENT, TYPE=C3D8I, ELSET=ALL')
for j in range(ny):
    for i in range(nx):
        corners = [number(i + a, j + b, c) for c in range(2) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
        print('%d, %s' % (1 + i + nx * j, ', '.join(map(str, corners))))
print('*SURFACE, NAME=TOP, TYPE=ELEMENT\nALL, S2\n*NSET, NSET=EDGES')
for k in range(2):
    for j in range(ny + 1):
        for i in range(nx + 1):
            if i in (0, nx) or j in (0, ny):
                print(number(i, j, k))
print('*MATERIAL, NAME=ALUMINIUM\n*ELASTIC\n70e9, 0.33\n*DENSITY\n2700')
print('*SOLID SECTION, ELSET=ALL, MATERIAL=ALUMINIUM\n*BOUNDARY\nEDGES, 1, 3')
