#!/usr/bin/env python3
"""The path of path.py for a device with a range of 75 mm of height. At each end of this range the clutch is held for 0.3 s, and
the device goes back to the other end, to the axis and upright.

    python3 strokes.py > strokes.csv       write its path, t,x,y,z,qw,qx,qy,qz,clutch every 10 ms
    python3 strokes.py MOTION.csv          compare the manipulandum and the peg of a motion along it with the path of path.py
"""

import csv
import sys

import path

TOP, STROKE = 0.215, 0.075
PAUSE = 30  # lines


def multiply(a, b):
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def lines():
    """Of each line the time of path.py, the pose of the device, and whether the clutch is held."""
    shift, turn = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)  # manipulandum = device + shift, device turn
    for i in range(501):
        at = path.pose(0.01 * i)
        place = [at[k] - shift[k] for k in range(3)]
        rotation = multiply(at[3:], (turn[0], -turn[1], -turn[2], -turn[3]))
        low, high = place[2] < TOP - STROKE, place[2] > TOP
        yield 0.01 * i, (*place, *rotation), low or high
        if low or high:
            end = (0.0, 0.0, TOP if low else TOP - STROKE)
            for k in range(1, PAUSE + 1):
                s = path.smooth(k, 0, PAUSE)
                back = [a + s * (b - a) for a, b in zip((*place, *rotation), (*end, 1.0, 0.0, 0.0, 0.0))]
                yield 0.01 * i, tuple(back), k < PAUSE
            shift, turn = tuple(at[k] - end[k] for k in range(3)), at[3:]


def write():
    print("t,x,y,z,qw,qx,qy,qz,clutch")
    for i, (_, pose, held) in enumerate(lines()):
        print("%g,%.9g,%.9g,%.9g,%.12g,%.9g,%.9g,%.9g,%d" % (0.01 * i, *pose, held))


def compare(name):
    with open(name, newline="") as file:
        frames = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    device, way, times, worst, crept = [], [], 0, 0.0, 0.0
    held_before = False
    for i, (t, pose, held) in enumerate(lines()):
        frame = frames[10 * i]  # every millisecond
        hand = [frame["hand_" + key] for key in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        worst = max(worst, *(abs(a - b) for a, b in zip(hand, path.pose(t))))
        device.append(pose[2])
        way.append(hand[2])
        if held_before and not held:  # the last 10 ms before a release
            times += 1
            crept = max(crept, *(abs(frame["peg." + key] - frames[10 * i - 10]["peg." + key]) for key in "xyz"))
        held_before = held
    print("clutch: held %d times. The device moves by %.0f mm of height, the manipulandum by %.0f mm" %
          (times, 1e3 * (max(device) - min(device)), 1e3 * (max(way) - min(way))))
    print("        manipulandum and path.py differ by %.2g at most (m, and the quaternion)" % worst)
    print("        the peg moves by %.2g um at most in the last 10 ms before a release" % (1e6 * crept))
    return 0 if worst < 1e-7 and times > 0 else 1  # the files have nine digits


if __name__ == "__main__":
    sys.exit(compare(sys.argv[1]) if len(sys.argv) > 1 else write())
