#!/usr/bin/env python3
"""The cosines of all pairs of columns as a histogram, and the normal distribution of the same mean and deviation. Their distance
is the largest difference between both distribution functions (Kolmogorov and Smirnov).

    python3 histogram.py products.csv > histogram.csv

The file is a table of simexport --to gram.
"""

import math
import sys

BINS = 41  # an odd number: one is about 0


def distance(cosines, mean, deviation):
    largest, count = 0.0, len(cosines)
    for i, c in enumerate(sorted(cosines)):
        normal = 0.5 * (1.0 + math.erf((c - mean) / (deviation * math.sqrt(2.0))))
        largest = max(largest, normal - i / count, (i + 1) / count - normal)
    return largest


def main():
    if len(sys.argv) != 2:
        print("usage: histogram.py products.csv > histogram.csv", file=sys.stderr)
        return 2
    with open(sys.argv[1]) as file:
        next(file)
        product = [[float(word) for word in line.split(",")] for line in file]
    cosines = [product[i][j] / math.sqrt(product[i][i] * product[j][j]) for i in range(len(product)) for j in range(i)]
    mean = sum(cosines) / len(cosines)
    deviation = math.sqrt(sum((c - mean) ** 2 for c in cosines) / len(cosines))
    count = [0] * BINS
    for c in cosines:
        count[min(max(int((c + 1.0) / 2.0 * BINS), 0), BINS - 1)] += 1
    print("# %d columns, %d pairs, mean %.4f, deviation %.4f, distance from the normal distribution %.2f"
          % (len(product), len(cosines), mean, deviation, distance(cosines, mean, deviation)))
    print("cosine,pairs,normal")
    for b in range(BINS):
        centre = -1.0 + (2 * b + 1) / BINS
        density = math.exp(-0.5 * ((centre - mean) / deviation) ** 2) / (deviation * math.sqrt(2.0 * math.pi))
        print("%.6f,%d,%.2f" % (centre, count[b], len(cosines) * density * 2.0 / BINS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
