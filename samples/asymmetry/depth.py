#!/usr/bin/env python3
"""The penetration over time, from the contacts of a motion, as a table on standard output: time (s) and depth in voxels.

    python3 depth.py motion.npz scene.json field.npz > depth.csv

The force of a point is k |d|, times L/l where more than L points touch (thesis, equation 3.1 and section 3.5).
"""

import array
import ast
import json
import math
import struct
import sys
import zipfile


def member(file, name):
    data = file.read(name + ".npy")
    end = 10 + struct.unpack("<H", data[8:10])[0]
    kind = ast.literal_eval(data[10:end].decode())["descr"]
    return array.array({"<f8": "d", "<i8": "q"}[kind], data[end:])


def main():
    if len(sys.argv) != 4:
        print("usage: depth.py motion.npz scene.json field.npz > depth.csv", file=sys.stderr)
        return 2
    with open(sys.argv[2], encoding="utf-8") as scene:
        contact = json.load(scene)["contact"]
    with zipfile.ZipFile(sys.argv[3]) as field:
        voxel = member(field, "spacing")[0]
    print("time,depth")
    with zipfile.ZipFile(sys.argv[1]) as motion:
        for block in sorted(name[5:-4] for name in motion.namelist() if name.startswith("time/")):
            forces = member(motion, "contact/force/" + block)
            first = 0
            for time, count in zip(member(motion, "time/" + block), member(motion, "contact/count/" + block)):
                most = max((math.hypot(*forces[3 * i : 3 * i + 3]) for i in range(first, first + count)), default=0)
                print("%.6g,%.6g" % (time, most / contact["stiffness"] / min(1, contact["limit"] / max(count, 1)) / voxel))
                first += count
    return 0


if __name__ == "__main__":
    sys.exit(main())
