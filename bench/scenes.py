#!/usr/bin/env python3
"""Measures steps of a pile of spheres in a box, and the memory of the process.

    python3 scenes.py TOOLS FOLDER [BALLS…]

Balls of 1000 points (that of the README) fall into each other between five planes, all against all. Of STEPS steps of 1 ms the mean time of the last
quarter is stated, in which the balls lie on each other, with the most points in contact there. One run each, with one and two threads. Balls: 64, 128, 216, 512, 2000 or 10000.
"""

import csv
import json
import math
import os
import resource
import subprocess
import sys

STEPS = 240
COUNTS = {64: (4, 4, 2), 128: (4, 4, 4), 216: (6, 6, 3), 512: (8, 8, 4), 2000: (10, 10, 10), 10000: (20, 25, 10)}


def write_ball(path, n=24):
    with open(path, "w") as out:
        for i in range(n + 1):
            for j in range(2 * n):
                a, b = math.pi * i / n, math.pi * j / n
                out.write("v %.6f %.6f %.6f\n" % (0.1 * math.sin(a) * math.cos(b), 0.1 * math.sin(a) * math.sin(b), 0.1 * math.cos(a)))
        for i in range(n):
            for j in range(2 * n):
                a, k = 2 * n * i + 1, (j + 1) % (2 * n)
                out.write("f %d %d %d %d\n" % (a + j, a + 2 * n + j, a + 2 * n + k, a + k))


def plane(normal, offset):
    return {"kind": "rigid", "plane": {"normal": normal, "offset": offset}}


def scene(counts):
    nx, ny, nz = counts
    models = {
        "floor": plane([0, 0, 1], 0),
        "left": plane([1, 0, 0], -0.12),
        "right": plane([-1, 0, 0], -(0.22 * nx)),
        "front": plane([0, 1, 0], -0.12),
        "back": plane([0, -1, 0], -(0.22 * ny)),
        "ball": {"kind": "rigid", "surface": "ball.obj", "density": 500, "pointshell": "ball.npz", "sphere": {"radius": 0.1}},
    }
    bodies = [{"name": name, "model": name} for name in models if name != "ball"]
    for name, shift in (("even", 0), ("odd", 1)):
        bodies.append({
            "name": name, "model": "ball", "motion": "free", "position": [0.11 * shift, 0.11 * shift, 0.1 + 0.14 * shift],
            "copies": {"count": [nx, ny, nz], "spacing": [0.22, 0.22, 0.28]},
        })
    return {"gravity": [0, 0, -9.81], "contact": {"stiffness": 20000, "damping": 20, "limit": 10}, "models": models, "bodies": bodies}


def run(tools, folder, threads):
    """Seconds of a step, points in contact at the end, GB."""
    motion, times = os.path.join(folder, "motion.npz"), os.path.join(folder, "times.csv")
    child = os.fork()
    if child == 0:
        code = subprocess.call([os.path.join(tools, "simscene"), os.path.join(folder, "scene.json"), "--dt", "0.001", "--steps", str(STEPS), "--every", str(STEPS // 4),
                                "--timings", times, "-t", str(threads), "-q", "-o", motion])
        with open(os.path.join(folder, "memory"), "w") as out:
            out.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1048576))
        os._exit(code)
    if os.waitpid(child, 0)[1]:
        sys.exit("simscene failed")
    with open(times) as file:
        seconds = [float(row["seconds"]) for row in csv.DictReader(file)]
    table = os.path.join(folder, "motion.csv")
    subprocess.check_call([os.path.join(tools, "simexport"), motion, "-q", "-o", table])
    with open(table) as file:
        contacts = [int(row["touching"]) for row in csv.DictReader(file)]
    with open(os.path.join(folder, "memory")) as file:
        memory = float(file.read())
    last = STEPS // 4
    return sum(seconds[-last:]) / last, contacts[-1], memory


def main():
    tools, folder = sys.argv[1:3]
    sizes = [int(size) for size in sys.argv[3:]] or [512, 2000, 10000]
    write_ball(os.path.join(folder, "ball.obj"))
    subprocess.check_call([os.path.join(tools, "pointshell"), os.path.join(folder, "ball.obj"), "--points", "1000", "-q", "-o", os.path.join(folder, "ball.npz")])
    for size in sizes:
        counts = COUNTS[size]
        with open(os.path.join(folder, "scene.json"), "w") as out:
            json.dump(scene(counts), out)
        for threads in (1, 2):
            seconds, contacts, memory = run(tools, folder, threads)
            print("%6d balls, %d threads: %8.2f ms a step, %7.0f points in contact, %.3f us for each, %.3f GB"
                  % (2 * counts[0] * counts[1] * counts[2], threads, 1e3 * seconds, contacts, 1e6 * seconds / max(1, contacts), memory), flush=True)


main()
