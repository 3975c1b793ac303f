#!/usr/bin/env python3
"""How well r columns that were extracted from a pool of candidates fit all of them: mass-PCA and random projection.

    python3 extraction.py mesh.npz modes.npz derivatives.npz SCRATCH > extraction.csv

The candidates are weighed by their Rayleigh quotients. Two errors: the mean of |u - Pu| / |u| over the candidates u, each
counted alike; and the root of the sum of squares over the weighed ones, relative to that of the candidates themselves.
For the second, the pool is taken as its principal directions times its singular values.
"""

import csv
import json
import subprocess
import sys

RANKS = (5, 10, 15, 20, 30, 40, 60, 80, 100)
SEEDS = (1, 2, 3, 4, 5)


def missed(mesh, columns, basis, scratch):
    """|u| and |u - Pu| of every column."""
    command = ["simcompare", "--projection", columns, basis, "--mesh", mesh, "--atol", "1", "--quiet", "--csv", scratch]
    subprocess.run(command, check=True)
    with open(scratch) as file:
        return [(float(row["size"]), float(row["missed"])) for row in csv.DictReader(file) if row["what"] == "column"]


def main():
    if len(sys.argv) != 5:
        print("usage: extraction.py mesh.npz modes.npz derivatives.npz SCRATCH > extraction.csv", file=sys.stderr)
        return 2
    mesh, modes, derivatives, scratch = sys.argv[1:]
    pool, table, basis = scratch + "-pool.npz", scratch + "-missed.csv", scratch + "-basis.npz"
    extract = ["masspca", mesh, modes, derivatives, "--scaling", "rayleigh", "--quiet"]
    subprocess.run([*extract, "-o", pool], check=True)
    info = subprocess.run(["siminfo", "--json", pool], check=True, capture_output=True).stdout
    singular = json.loads(info)["result"]["singular_values"]
    total = sum(s * s for s in singular)
    print("method,seed,r,mean,weighed")
    for r in RANKS:
        for method, seed in [("pca", 1)] + [("random", seed) for seed in SEEDS]:
            choice = ["--method", method, "-r", str(r)] + (["--seed", str(seed)] if method == "random" else [])
            subprocess.run([*extract, *choice, "-o", basis], check=True)
            each = missed(mesh, modes, basis, table) + missed(mesh, derivatives, basis, table)
            mean = sum(part / size for size, part in each) / len(each)
            weighed = sum((s * part) ** 2 for s, (_, part) in zip(singular, missed(mesh, pool, basis, table)))
            print("%s,%d,%d,%.6g,%.6g" % (method, seed, r, mean, (weighed / total) ** 0.5), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
