#!/usr/bin/env python3
"""What siminfo and U^T M U say of inertia modes that were orthogonalized in several ways.

    python3 orthogonality.py out/raw out/reduced-0.001 ... out/exact > orthogonality.csv

NAME.npz are the modes, NAME-gram.csv their first columns' products. The reduced method stands for its culling threshold.
"""

import json
import subprocess
import sys


def main():
    if len(sys.argv) < 2:
        print("usage: orthogonality.py NAME ... > orthogonality.csv", file=sys.stderr)
        return 2
    print("how,culling,samples,subtractions,culled,largest,first_columns,largest_of_first,mean_of_first")
    for name in sys.argv[1:]:
        info = json.loads(subprocess.run(["siminfo", "--json", name + ".npz"], check=True, capture_output=True).stdout)
        result, parameters = info["result"], info["meta"]["parameters"]
        how = parameters["orthogonalize"] or "exact"
        with open(name + "-gram.csv") as file:
            next(file)
            product = [[float(word) for word in line.split(",")] for line in file]
        off = [abs(product[i][j]) for i in range(len(product)) for j in range(i)]
        reduced = [""] * 4
        if how == "reduced":
            reduced = [parameters["culling"], result["samples"], result["subtractions"], result["culled"]]
        print(how, *reduced, "%.3g" % result["orthogonality"], len(product), "%.3g" % max(off), "%.3g" % (sum(off) / len(off)), sep=",")
    return 0


if __name__ == "__main__":
    sys.exit(main())
