#!/usr/bin/env python3
"""Write a box from (-x/2, -y/2, 0) to (x/2, y/2, z), lengths in m, as Wavefront OBJ, each side divided into so many squares.

    python3 bar.py X Y Z NX NY NZ > bar.obj

The surface carries the colours and the shading of pictures, so it is as fine as the mesh.
"""

import sys


def main():
    if len(sys.argv) != 7:
        print("usage: bar.py X Y Z NX NY NZ > bar.obj", file=sys.stderr)
        return 2
    size = [float(word) for word in sys.argv[1:4]]
    count = [int(word) for word in sys.argv[4:]]
    low = [-size[0] / 2, -size[1] / 2, 0.0]
    lines, first = [], 1
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            for j in range(count[v] + 1):
                for i in range(count[u] + 1):
                    point = [0.0] * 3
                    point[axis] = low[axis] + side * size[axis]
                    point[u] = low[u] + size[u] * i / count[u]
                    point[v] = low[v] + size[v] * j / count[v]
                    lines.append("v %.9f %.9f %.9f" % tuple(point))
            for j in range(count[v]):
                for i in range(count[u]):
                    a = first + j * (count[u] + 1) + i
                    b, c, d = a + 1, a + count[u] + 2, a + count[u] + 1
                    lines.append("f %d %d %d %d" % ((a, b, c, d) if side else (a, d, c, b)))
            first += (count[u] + 1) * (count[v] + 1)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
