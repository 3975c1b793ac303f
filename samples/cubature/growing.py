#!/usr/bin/env python3
"""Write how the error falls while incremental training adds poses, as a table to standard output.

    python3 growing.py plain-SEED.npz … adjusted-SEED.npz …

Each row: the poses so far; the error on poses held out of training about rest and with expectation adjustment, means over the
seeds; the mean fitting error, which has to settle, of both; 1 once the paper's rule, a change below 0.005, has stopped every run.
"""

import json
import pathlib
import sys
import zipfile

CHANGE = 0.005


def rounds(path):
    """Poses, held-out errors and mean fitting errors of every round, from what cubature reports."""
    with zipfile.ZipFile(path) as archive:
        data = archive.read("result.npy")
    result = json.loads(data[10 + int.from_bytes(data[8:10], "little") :].decode())
    return [*zip(result["round_poses"], result["round_held_out_errors"], result["round_mean_errors"])]


def mean(values):
    return sum(values) / len(values)


def main():
    runs = {"plain": [], "adjusted": []}
    if len(sys.argv) < 3:
        print("usage: growing.py plain-SEED.npz … adjusted-SEED.npz …", file=sys.stderr)
        return 2
    try:
        for path in sys.argv[1:]:
            runs[pathlib.Path(path).name.split("-")[0]].append(rounds(path))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"growing.py: {path}: {error}", file=sys.stderr)
        return 3
    seeds = len(runs["plain"])
    print(f"# error of the force on others while poses are added, and mean fitting error: means over {seeds} seeds")
    print("# %-6s%12s%12s%12s%12s%10s" % ("T", "about rest", "adjusted", "fit", "adjusted", "settled"))
    settled = False
    for k, column in enumerate(zip(*runs["plain"], *runs["adjusted"])):
        plain, adjusted = column[:seeds], column[seeds:]
        settled = settled or (k > 0 and all(abs(run[k][2] - run[k - 1][2]) < CHANGE for run in runs["plain"] + runs["adjusted"]))
        print(
            "%-8d%12.5f%12.5f%12.5f%12.5f%10d"
            % (
                plain[0][0],
                mean([r[1] for r in plain]),
                mean([r[1] for r in adjusted]),
                mean([r[2] for r in plain]),
                mean([r[2] for r in adjusted]),
                settled,
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
