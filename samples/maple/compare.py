#!/usr/bin/env python3
"""The top of a tree in domains beside that of the full-order model: compare.py DOMAINS.csv FULL.csv OUT.csv > table.txt

Both have the displacement of one vertex in their last three columns. OUT.csv has its length along the wind for both at the times of FULL.
"""

import csv
import math
import sys


def read(path):
    """The displacement by time in µs."""
    with open(path) as file:
        rows = list(csv.reader(file))[1:]
    return {round(1e6 * float(row[0])): [float(c) for c in row[-3:]] for row in rows}


def main():
    domains, full = read(sys.argv[1]), read(sys.argv[2])
    differences = [math.dist(domains[t], u) for t, u in full.items()]
    sizes = [math.hypot(*u) for u in full.values()]
    rms = math.sqrt(sum(d * d for d in differences) / sum(s * s for s in sizes))
    print("largest displacement of the top, m      %8.4f" % max(sizes))
    print("error of the top, root mean square      %7.2f %%" % (100 * rms))
    print("largest error / largest displacement    %7.2f %%" % (100 * max(differences) / max(sizes)))
    with open(sys.argv[3], "w") as out:
        out.write("time,domains,full\n")
        for t, u in full.items():
            out.write("%.9g,%.9g,%.9g\n" % (t / 1e6, domains[t][0], u[0]))


main()
