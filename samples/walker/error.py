"""Distances of surfaces in the same frames: error.py REFERENCE-PATTERN FRAMES NAME=PATTERN ... prints for each name the mean and the largest
distance of the vertices of OBJ files from those of the reference, in mm."""

import math
import sys


def vertices(pattern, frame):
    with open(pattern % frame) as file:
        return [tuple(map(float, line.split()[1:4])) for line in file if line.startswith("v ")]


def main(reference, frames, *motions):
    exact = [vertices(reference, frame) for frame in range(int(frames))]
    for motion in motions:
        name, pattern = motion.split("=")
        distances = [math.dist(a, b) for frame, points in enumerate(exact) for a, b in zip(points, vertices(pattern, frame), strict=True)]
        print("%-48s %8.1f %8.1f" % (name, 1e3 * sum(distances) / len(distances), 1e3 * max(distances)))


if __name__ == "__main__":
    main(*sys.argv[1:])
