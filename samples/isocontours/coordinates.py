#!/usr/bin/env python3
"""The reduced coordinates of a frame of a trajectory with commas: coordinates.py MOTION.npz FRAME."""
import array, sys, zipfile


def member(name):
    data = zipfile.ZipFile(sys.argv[1]).read(name)
    values = array.array("d", data[10 + data[8] + 256 * data[9]:])
    return values


q, frames = member("q/000000.npy"), len(member("time/000000.npy"))
r = len(q) // frames
print(",".join("%.17g" % x for x in q[int(sys.argv[2]) * r:(int(sys.argv[2]) + 1) * r]))
