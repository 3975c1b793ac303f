"""The whole chain of a reduced model, from triangles to polynomials and a motion: seconds of every stage and their shares.

    chain.py TOOLS FOLDER RUNS THREADS VOXELIZE_ARGUMENT...

Every stage is a whole process that reads files and writes one: voxelize, modes (20), modalderiv (210), masspca (230 columns
to 30), polycoef, simulate (100 semi-implicit steps of 1 ms after a push of gravity). The chain runs RUNS times from the
first stage to the last; a stage's seconds are the median of its runs. FOLDER receives the files.
"""

import os
import statistics
import sys
import time


def spend(command):
    """Seconds, processor seconds and GB of one process."""
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit("failed: " + " ".join(command))
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1048576


def main():
    tools, folder, runs, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    file = {name: os.path.join(folder, "chain-" + name + ".npz") for name in ("mesh", "modes", "derivatives", "basis", "polynomials", "motion")}
    stages = {
        "voxelize": sys.argv[5:] + ["-o", file["mesh"]],
        "modes": [file["mesh"], "-k", "20", "-o", file["modes"]],
        "modalderiv": [file["mesh"], file["modes"], "-o", file["derivatives"]],
        "masspca": [file["mesh"], file["modes"], file["derivatives"], "-r", "30", "-o", file["basis"]],
        "polycoef": [file["mesh"], file["basis"], "-o", file["polynomials"]],
        "simulate": [file["mesh"], "--basis", file["basis"], "--poly", file["polynomials"], "--gravity=0,-9.81,0", "--dt", "0.001",
                     "--steps", "100", "--semi-implicit", "-o", file["motion"]],
    }  # fmt: skip
    taken = {name: [] for name in stages}
    for _ in range(runs):
        for name, arguments in stages.items():
            taken[name].append(spend([os.path.join(tools, name)] + arguments + ["-q", "-t", threads]))
    median = {name: [statistics.median(column) for column in zip(*rows)] for name, rows in taken.items()}
    total, processor = (sum(row[i] for row in median.values()) for i in (0, 1))
    for name, (seconds, used, memory) in median.items():
        print("  %-12s %7.2f s  %4.1f %%  processor %7.2f s  %5.2f GB" % (name, seconds, 100 * seconds / total, used, memory))
    print("  %-12s %7.2f s          processor %7.2f s" % ("the chain", total, processor), flush=True)


main()
