#!/usr/bin/env python3
"""Times cycles of contact as Table 3.1 of Barbič's thesis does, on its four cases.

    python3 contact.py TOOLS FOLDER [RUNS]

FOLDER holds the models that `scripts/bench contact` makes; scenes, hand paths and motions go there too. A hand comes near and slides along
for 3000 cycles of 1 ms. Every scene is simulated RUNS times (default 3), which gives the same cycles each time. Means are of the cycles in
contact, each with its least time, so that what else the machine does counts for little. The 99.9th percentile and the worst cycle are those of
single runs, as a haptic loop would meet them: the percentile is the largest among the runs, the worst that of all cycles of all runs.
The last column says how many cycles of all runs took longer than 1 ms.
"""

import csv
import json
import os
import subprocess
import sys
from math import ceil, cos, pi, sin

STEP, STEPS = 1e-3, 3000
THESIS_WARM = 2000
WARM = [3000, 4500, 7000, 10000, 15000, 22000, 33000, 50000, 75000, 100000, 150000, 300000]
REDUCED = {"kind": "reduced", "damping": [0.5, 0.005]}

# Numbers printed in the thesis: nodes with and without coherence, points, level, microseconds of coupling, StVK, traversal, in all; without tree.
THESIS = {
    "rigid": (2050, 3400, 820, 6, 90, 0, 780, 870, 80000),
    "hoses": (530, 1520, 50, 4, 90, 45, 125, 260, 6600),
    "dragon": (1750, 2900, 650, 5, 90, 45, 615, 750, 29800),
    "both": (300, 1500, 40, 3, 90, 90, 660, 840, 590000),
}


def coupled(stiffness, force, torque, start):
    return {"kind": "static", "body": "hand", "path": "", "stiffness": stiffness, "torque_stiffness": torque, "saturation": force}, start


def reduced(name, **more):
    return dict(REDUCED, mesh=f"{name}.npz", basis=f"{name}-basis.npz", polynomials=f"{name}-poly.npz", **more)


# Title, contact, the body with the points, the body with the distance field, the one that is coupled to the manipulandum, coupling with its start, distance down, distance sideways, rotation (rad).
CASES = {
    "rigid": (
        "1.02M rigid against 256, rigid", {"stiffness": 500, "limit": 10}, {"kind": "rigid", "pointshell": "armadillo-shell.npz"},
        {"kind": "rigid", "field": "dinosaur-field.npz"}, coupled(600, 30, 10, (0, 0, 0.9)), (0, 0, -0.55), (0.1, 0.2, 0), 0.3,
    ),
    "hoses": (
        "80k reduced against 128, rigid", {"stiffness": 2000, "limit": 10}, reduced("hoses", shell="hoses-shell.npz"),
        {"kind": "rigid", "field": "part-field.npz"}, coupled(600, 25, 6, (0, 0, 0.34)), (0, 0, -0.29), (0.09, 0.03, 0), 0.3,
    ),
    "dragon": (
        "256k reduced against 256, rigid", {"stiffness": 500, "limit": 10}, reduced("dragon", shell="dragon-shell.npz"),
        {"kind": "rigid", "field": "buddha-field.npz"}, coupled(600, 30, 50, (0.1, 2.4, 0.1)), (0, -1, 0), (0.5, 0, 0.1), 0.5,
    ),
    "both": (
        "256k reduced against 256, deformed", {"stiffness": 2000, "damping": 1, "limit": 10}, reduced("dragon", shell="dragon-shell.npz"),
        reduced("dinosaur", field="dinosaur-field.npz", proxies="dinosaur-proxies.npz"), coupled(600, 30, 10, (0, 1.75, 0)), (0, -0.62, 0), (0.2, 0, 0.1), 0.3,
    ),
}  # fmt: skip


def smooth(s):
    s = min(max(s, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def write_hand(path, start, down, aside, turn):
    """Moves down within a third of the time, then sideways as a sine, rotating about y in phase."""
    with open(path, "w") as file:
        print("t,x,y,z,qw,qx,qy,qz", file=file)
        for i in range(301):
            u = i / 300
            swing = sin(3 * pi * max(0.0, u - 1 / 3))
            x = [start[k] + down[k] * smooth(3 * u) + aside[k] * swing for k in range(3)]
            half = 0.5 * turn * swing
            print("%.9g,%.9g,%.9g,%.9g,%.12g,0,%.9g,0" % (u * STEP * STEPS, *x, cos(half), sin(half)), file=file)


def scene_of(name, folder, traversal):
    _, contact, shell, field, coupling, down, aside, turn = CASES[name]
    scene = {"contact": contact, "traversal": traversal, "models": {"shell": shell, "field": field}}
    scene["coupling"] = dict(coupling[0], path=f"{name}.csv")
    scene["bodies"] = [{"name": "body", "model": "shell"}, {"name": "hand", "model": "field", "motion": "coupled", "position": coupling[1]}]
    write_hand(f"{folder}/{name}.csv", coupling[1], down, aside, turn)
    scene["pairs"] = [["body", "hand"]]
    return scene


def simulate(tools, folder, scene, runs, steps=STEPS):
    """Columns of every cycle, with its microseconds in each run."""
    with open(f"{folder}/scene.json", "w") as file:
        json.dump(scene, file)
    taken = []
    for _ in range(runs):
        command = [f"{tools}/simscene", "scene.json", "--dt", str(STEP), "--steps", str(steps), "--semi-implicit", "-q", "-t", "1"]
        subprocess.run(command + ["--timings", "times.csv", "-o", "motion.npz"], cwd=folder, check=True)
        with open(f"{folder}/times.csv") as file:
            taken.append([1e6 * float(row["seconds"]) for row in csv.DictReader(file)])
    subprocess.run([f"{tools}/simexport", "motion.npz", "--coordinates", "-q", "-o", "motion.csv"], cwd=folder, check=True)
    with open(f"{folder}/motion.csv") as file:
        rows = list(csv.DictReader(file))[1:]
    for row, values in zip(rows, zip(*taken)):
        row["us"] = values
    return rows


def processor_time(tools, folder, scene, steps):
    """Of a whole run: cycles that take longer than a time slice are always interrupted on a busy machine."""
    before = os.times()
    simulate(tools, folder, scene, 1, steps)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def rare(rows):
    """The 99.9th percentile of all cycles of one run, in the run where it is largest."""
    return max(sorted(times)[ceil(0.999 * len(times)) - 1] for times in zip(*(row["us"] for row in rows)))


def summary(rows):
    touching = [row for row in rows if int(row["touching"]) > 0]
    column = lambda name: [int(row[name]) for row in touching]
    mean = lambda values: sum(values) / max(1, len(values))
    return "%5.0f, %5.0f nodes  %3.0f, %4d points  level %s  mean %4.0f  99.9 %% %5.0f  worst %5.0f us, %d above 1 ms" % (
        mean(column("visited")), max(column("visited")), mean(column("touching")), max(column("touching")),
        max(column("level")), mean([min(row["us"]) for row in touching]), rare(rows), max(max(row["us"]) for row in rows),
        sum(value > 1000 for row in rows for value in row["us"]),
    )  # fmt: skip


def held(name, folder, rows):
    """The scene at its most points in contact, everything fixed, without a tree."""
    most = max(rows, key=lambda row: int(row["touching"]))
    scene = scene_of(name, folder, {"tree": False, "coherence": False})
    body = scene["bodies"][1]
    place = [float(most[f"hand.{key}"]) for key in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    body.update(position=place[:3], orientation=place[3:])
    with open(f"{folder}/{name}.csv", "w") as file:
        print("t,x,y,z,qw,qx,qy,qz\n0," + ",".join(map(str, place)), file=file)
    return scene


def main():
    tools, folder, runs = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 3
    print("nodes and points: mean and most of cycles in contact; us: mean of these, percentile in the worst of %d runs, worst cycle of all of them" % runs)
    for name, case in CASES.items():
        print(case[0], flush=True)
        with_coherence = simulate(tools, folder, scene_of(name, folder, {"warm": THESIS_WARM}), runs)
        print("  warm %6d                 " % THESIS_WARM + summary(with_coherence), flush=True)
        without = simulate(tools, folder, scene_of(name, folder, {"warm": THESIS_WARM, "coherence": False}), runs)
        print("  warm %6d, no coherence   " % THESIS_WARM + summary(without), flush=True)
        best = None
        for warm in WARM:
            rows = simulate(tools, folder, scene_of(name, folder, {"warm": warm}), runs)
            if rare(rows) >= 1000:
                break
            best = (warm, rows)
            if max(int(row["visited"]) for row in rows) < warm:
                break
        if best:
            all_levels = max(int(row["visited"]) for row in best[1]) < best[0]
            title = "  warm %6d %-15s " % (best[0], "(all levels)" if all_levels else "")
            print(title + summary(best[1]) + ", the highest below 1 ms", flush=True)
        else:
            print("  the 99.9th percentile is above 1 ms at warm %d, too" % WARM[0])
        scene = held(name, folder, with_coherence)
        few, many = (min(processor_time(tools, folder, scene, steps) for _ in range(runs)) for steps in (2, 52))
        print("  without a tree, most points in contact: %.0f us of processor time a cycle" % (1e6 * (many - few) / 50))
        print("  (thesis: %d nodes, %d without coherence, %d points, level %d; " % THESIS[name][:4], end="")
        print("us: coupling %d, StVK %d, traversal %d, in all %d; no tree %d)" % THESIS[name][4:], flush=True)


if __name__ == "__main__":
    main()
