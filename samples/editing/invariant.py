#!/usr/bin/env python3
"""Compares the spans of two bases: invariant.py BASIS.npz OTHER.npz. The columns of the second, of a body whose mass is
another multiple of the first's, are compared with those of the first up to sign and length."""

import array
import struct
import sys
import zipfile


def member(path, name):
    with zipfile.ZipFile(path) as file:
        data = file.read(name + ".npy")
    return array.array("d", data[10 + struct.unpack("<H", data[8:10])[0] :])


def main():
    first, other = (member(path, "U") for path in sys.argv[1:3])
    columns = len(member(sys.argv[1], "singular_value"))
    rows = len(first) // columns
    worst, ratios = 0.0, []
    for c in range(columns):
        a, b = first[c * rows : (c + 1) * rows], other[c * rows : (c + 1) * rows]
        square = sum(x * x for x in a)
        ratio = sum(x * y for x, y in zip(a, b)) / square
        worst = max(worst, (sum((y - ratio * x) ** 2 for x, y in zip(a, b)) / square) ** 0.5 / abs(ratio))
        ratios.append(abs(ratio))
    print("basis of a body with 100 times Young's modulus and 3 times the density: columns are shorter by %.6f to %.6f, and otherwise" % (min(ratios), max(ratios)))
    print("differ by at most %.1e of their length" % worst)


main()
