#!/usr/bin/env python3
"""The number of holes through a closed surface: holes.py LABEL SURFACE.obj ..., from Euler's formula
V - E + F = 2 (parts - holes), where a triangle has half of three edges."""

import sys


def root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


for label, path in zip(sys.argv[1::2], sys.argv[2::2]):
    triangles, vertices = [], 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("v "):
                vertices += 1
            elif line.startswith("f "):
                triangles.append([int(word.split("/")[0]) - 1 for word in line.split()[1:4]])
    parent = list(range(vertices))
    for a, b, c in triangles:
        parent[root(parent, a)] = root(parent, b)
        parent[root(parent, b)] = root(parent, c)
    parts = sum(parent[i] == i for i in range(vertices))
    print("%-28s parts %d, holes %d" % (label, parts, parts - (vertices - len(triangles) // 2) // 2))
