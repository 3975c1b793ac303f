#!/usr/bin/env python3
"""The displacement of a vertex over time, and what the README states of it: motion.py MOTION.csv OUT.csv REST > text

MOTION.csv has its x, y, z in the last three columns. REST: the time in s at which the tree has its weight and is still.
"""

import csv
import math
import sys


def main():
    with open(sys.argv[1]) as file:
        rows = [[float(row[0]), *map(float, row[-3:])] for row in list(csv.reader(file))[1:]]
    rest = min(rows, key=lambda row: abs(row[0] - float(sys.argv[3])))
    print("displacement at %.2f s, m                  %8.4f" % (rest[0], math.hypot(*rest[1:])))
    print("largest distance from there later, m       %8.4f" % max(math.dist(row[1:], rest[1:]) for row in rows if row[0] > rest[0]))
    with open(sys.argv[2], "w") as out:
        out.write("time,x,y,z\n")
        for row in rows:
            out.write(",".join("%.9g" % c for c in row) + "\n")


main()
