#!/usr/bin/env python3
"""How far sparse inner products are from those in the mass, over the number of sample points.

    python3 sparse.py products.csv sparse-50.csv sparse-100.csv ... > sparse.csv

The files are tables of simexport --to gram. A pair whose cosine in the mass is below 1e-3 has no relative error: on a
symmetric body half of all products are 0.
"""

import re
import sys


def table(path):
    with open(path) as file:
        next(file)
        return [[float(word) for word in line.split(",")] for line in file]


def main():
    if len(sys.argv) < 3:
        print("usage: sparse.py products.csv sparse-N.csv ... > sparse.csv", file=sys.stderr)
        return 2
    full = table(sys.argv[1])
    pairs = [(i, j) for i in range(len(full)) for j in range(i)]
    length = [full[i][i] ** 0.5 for i in range(len(full))]
    print("samples,pairs,mean_relative,median_relative,mean_cosine")
    for path in sys.argv[2:]:
        sparse = table(path)
        relative, cosine = [], []
        for i, j in pairs:
            error, size = abs(sparse[i][j] - full[i][j]), length[i] * length[j]
            cosine.append(error / size)
            if abs(full[i][j]) >= 1e-3 * size:
                relative.append(error / abs(full[i][j]))
        mean = sum(relative) / len(relative)
        samples = re.search(r"(\d+)\.csv$", path).group(1)
        print("%s,%d,%.6g,%.6g,%.6g" % (samples, len(relative), mean, sorted(relative)[len(relative) // 2], sum(cosine) / len(cosine)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
