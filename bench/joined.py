#!/usr/bin/env python3
"""Measures steps of trees of joined domains.

    python3 joined.py TOOLS FOLDER CSV [SEGMENTS…]

All segments are one model, a bar of 90 hexahedra in r coordinates, and make a binary tree: the two children of a segment continue at its tip,
turned by 0.8 rad about x and then by 0.3 and -0.3 rad about z of the segment. The root is clamped, and gravity bends the tree. Of 100 steps of
10 ms the median time is stated, with one Newton iteration and with converged steps, on one and two threads, and the mean processor time on one
thread, which other programs disturb less. Threads wait actively (OMP_WAIT_POLICY=active), for which the machine must be idle. FOLDER receives the files, CSV the numbers of the first r.
"""

import csv
import json
import math
import os
import resource
import statistics
import subprocess
import sys

LENGTH, WIDTH, STEPS = 0.25, 0.05, 100
COUNTS = [(45, 8), (180, 8), (717, 8), (1435, 8), (1435, 9)]
TURN, SPREAD, GRAVITY = 0.8, 0.3, 0.1


def product(p, q):
    """Of quaternions w, x, y, z."""
    return [p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]]


def axis(q):
    """The direction of x."""
    w, x, y, z = q
    return [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]


def turned(q, spread):
    about_x = [math.cos(TURN / 2), math.sin(TURN / 2), 0, 0]
    about_z = [math.cos(spread / 2), 0, 0, math.sin(spread / 2)]
    q = product(product(q, about_x), about_z)
    size = math.hypot(*q)
    return [c / size for c in q]


def scene(count, r):
    bodies, joints = [], [{"child": "s0"}]
    for k in range(count):
        if k == 0:
            place, q = [0, 0, 0], [1, 0, 0, 0]
        else:
            parent = bodies[(k - 1) // 2]
            place = [p + LENGTH * a for p, a in zip(parent["position"], axis(parent["orientation"]))]
            q = turned(parent["orientation"], SPREAD if k % 2 else -SPREAD)
            joints.append({"child": f"s{k}", "parent": parent["name"], "interface": "tip"})
        bodies.append({"name": f"s{k}", "model": "segment", "motion": "free", "position": place, "orientation": q})
    model = {"kind": "reduced", "mesh": "segment.npz", "basis": f"basis-{r}.npz", "polynomials": f"polynomials-{r}.npz", "damping": [0.1, 0.001]}
    return {"gravity": [0, 0, -GRAVITY], "models": {"segment": model}, "bodies": bodies, "joints": joints}


def reduce(tools, folder, ranks):
    """The model of a segment, whose basis keeps the six coordinates of the frame of the tip and adds derivatives."""
    def make(tool, *arguments):
        subprocess.check_call([os.path.join(tools, tool), *arguments, "-q"], cwd=folder)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "segment.inp"), "w") as deck:
        subprocess.check_call([sys.executable, os.path.join(here, "../samples/chain/model.py"), "10", "3", "3", str(LENGTH), str(WIDTH)], stdout=deck)
    make("simimport", "segment.inp", "--young", "1e9", "--poisson", "0.3", "--density", "700", "--fix-set", "base", "-o", "segment.npz")
    make("modes", "segment.npz", "--interface", "tip", "--frame", "average", "-k", "0", "--ritz", "-o", "modes.npz")
    make("modalderiv", "segment.npz", "modes.npz", "--method", "inertia", "-o", "derivatives.npz")
    for r in ranks:
        make("masspca", "segment.npz", "modes.npz", "derivatives.npz", "--keep-first", "--scaling", "product", "-r", str(r), "-o", f"basis-{r}.npz")
        make("polycoef", "segment.npz", f"basis-{r}.npz", "-o", f"polynomials-{r}.npz")


def run(tools, folder, steps, threads, options):
    """Processor time in ms."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.check_call([os.path.join(tools, "simscene"), "tree.json", "--dt", "0.01", "--steps", str(steps), "--every", str(steps),
                           "--timings", "times.csv", "-t", str(threads), "-q", "-o", "motion.npz", *options], cwd=folder, env=dict(os.environ, OMP_WAIT_POLICY="active"))
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime)


def step(tools, folder, threads, *options):
    """Median time and mean processor time of a step in ms."""
    start = run(tools, folder, 1, threads, options)
    processor = (run(tools, folder, STEPS, threads, options) - start) / (STEPS - 1)
    with open(os.path.join(folder, "times.csv")) as file:
        return 1000 * statistics.median(float(row["seconds"]) for row in csv.DictReader(file)), processor


def main():
    tools, folder, table = sys.argv[1:4]
    counts = [(int(n), 8) for n in sys.argv[4:]] or COUNTS
    reduce(tools, folder, sorted({r for _, r in counts}))
    print("                             one Newton iteration, ms           converged, ms")
    print("segments  r  coordinates     1 thread  processor 2 threads   1 thread  processor 2 threads   steps/s, one iteration")
    with open(table, "w") as out:
        out.write("segments,r,coordinates,semi_1,semi_processor,semi_2,converged_1,converged_processor,converged_2\n")
        for count, r in counts:
            with open(os.path.join(folder, "tree.json"), "w") as file:
                json.dump(scene(count, r), file)
            ms = []
            for options in (["--semi-implicit"], []):
                ms += [*step(tools, folder, 1, *options), step(tools, folder, 2, *options)[0]]
            print("%8d %2d  %11d  %11.3f %10.3f %9.3f %10.3f %10.3f %9.3f %24.0f" % (count, r, count * r, *ms, 1000 / min(ms[0], ms[2])), flush=True)
            if r == counts[0][1]:    # a plot over the number of segments has one r
                out.write(",".join(str(c) for c in [count, r, count * r, *ms]) + "\n")


main()
