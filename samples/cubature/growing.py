#!/usr/bin/env python3
"""Write how the error falls while incremental training adds poses, as a table to standard output.

    python3 growing.py errors|deviations plain-SEED.npz … adjusted-SEED.npz …      or absolute-SEED.npz in place of these

Each row: the poses so far; the error, or the mean deviation of the force, on poses held out of training about rest and with
expectation adjustment, means over the seeds; the mean fitting error, which has to settle, of both; 1 once the paper's rule, a
change below 0.005, has stopped every run; what adjustment changes in percent, mean and standard deviation over the seeds.
"""

import json
import pathlib
import statistics
import sys
import zipfile

CHANGE = 0.005


def rounds(path, measure):
    """Poses, held-out errors or deviations, and mean fitting errors of every round, from what cubature reports."""
    with zipfile.ZipFile(path) as archive:
        data = archive.read("result.npy")
    result = json.loads(data[10 + int.from_bytes(data[8:10], "little") :].decode())
    return [*zip(result["round_poses"], result["round_held_out_" + measure], result["round_mean_errors"])]


def mean(values):
    return sum(values) / len(values)


def main():
    runs = {"plain": [], "adjusted": []}
    measure = sys.argv[1] if len(sys.argv) > 1 else ""
    if len(sys.argv) < 4 or sys.argv[1] not in ("errors", "deviations"):
        print("usage: growing.py errors|deviations plain-SEED.npz … adjusted-SEED.npz …", file=sys.stderr)
        return 2
    try:
        for path in sys.argv[2:]:
            runs[pathlib.Path(path).name.split("-")[0].removeprefix("raw").replace("absolute", "adjusted")].append(rounds(path, measure))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"growing.py: {path}: {error}", file=sys.stderr)
        return 3
    seeds = len(runs["plain"])
    print(f"# {measure} of the force on others while poses are added, and mean fitting error: means over {seeds} seeds")
    print("# %-6s%12s%12s%12s%12s%10s%18s" % ("T", "about rest", "adjusted", "fit", "adjusted", "settled", "adjustment"))
    settled = False
    for k, column in enumerate(zip(*runs["plain"], *runs["adjusted"])):
        plain, adjusted = column[:seeds], column[seeds:]
        gain = [100 * (b[1] / a[1] - 1) for a, b in zip(plain, adjusted)]
        settled = settled or (k > 0 and all(abs(run[k][2] - run[k - 1][2]) < CHANGE for run in runs["plain"] + runs["adjusted"]))
        print(
            "%-8d%12.5f%12.5f%12.5f%12.5f%10d%+9.2f +- %.2f %%"
            % (
                plain[0][0],
                mean([r[1] for r in plain]),
                mean([r[1] for r in adjusted]),
                mean([r[2] for r in plain]),
                mean([r[2] for r in adjusted]),
                settled,
                mean(gain),
                statistics.stdev(gain) if seeds > 1 else 0,
            )
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
