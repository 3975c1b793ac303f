#!/usr/bin/env python3
"""How far the skin lags behind the core.

    python3 lag.py find head.mesh                          the numbers of the vertices to look at, for --probe
    python3 lag.py HEAD.mesh LABEL=probes.csv ...          a table

A vertex at the bottom of the skin and one at the bottom of the core go around the axis. Their angles over the last two periods, less the mean, are fitted by a sine of
the rate of the turns (least squares); compared are its amplitudes and phases.
"""

import csv
import math
import sys

AXIS, RATE, UNTIL = 0.025, 2.5, 4.0  # of model.py
POINTS = ((0.15, 0.0, -0.1), (0.15, 0.0, 0.0))  # skin, core


def vertices(path):
    with open(path, encoding="utf-8") as text:
        words = iter(text.read().split())
    for word in words:
        if word == "Vertices":
            return [(float(next(words)), float(next(words)), float(next(words)), next(words))[:3] for _ in range(int(next(words)))]
    return []


def find(path):
    """The vertices nearest to POINTS, with their places at rest."""
    places = vertices(path)
    return [min(enumerate(places), key=lambda v: math.dist(v[1], point)) for point in POINTS]


def sine(times, values):
    """Amplitude and phase of the part of this rate; whole periods of even steps, so that sums are orthogonal."""
    mean = sum(values) / len(values)
    s = 2 / len(values) * sum((a - mean) * math.sin(2 * math.pi * RATE * t) for t, a in zip(times, values))
    c = 2 / len(values) * sum((a - mean) * math.cos(2 * math.pi * RATE * t) for t, a in zip(times, values))
    return math.hypot(s, c), math.atan2(c, s)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "find":
        print(",".join(str(v) for v, _ in find(sys.argv[2])))
        return 0
    if len(sys.argv) < 3:
        print("usage: lag.py find head.mesh | head.mesh LABEL=probes.csv ...", file=sys.stderr)
        return 2
    probes = find(sys.argv[1])
    print("%-34s%14s%14s%10s%14s" % ("", "core turns by", "skin turns by", "lag", "most apart"))
    for word in sys.argv[2:]:
        label, path = word.split("=")
        times, angles, apart = [], ([], []), 0.0
        with open(path, encoding="utf-8", newline="") as text:
            for row in csv.DictReader(text):
                t = float(row["time"])
                if not UNTIL - 2 / RATE + 1e-9 < t < UNTIL + 1e-9:
                    continue
                times.append(t)
                for number, (vertex, (_, y, z)) in enumerate(probes):
                    now = (y + float(row["v%d_y" % vertex]), z + float(row["v%d_z" % vertex]) - AXIS)
                    turned = math.atan2(now[1], now[0]) - math.atan2(z - AXIS, y)
                    angles[number].append(math.degrees((turned + math.pi) % (2 * math.pi) - math.pi))
                apart = max(apart, abs(angles[0][-1] - angles[1][-1]))
        (skin, late), (core, early) = (sine(times, a) for a in angles)
        lag = (early - late) % (2 * math.pi)
        print("%-34s%12.1f °%12.1f °%7.0f ms%12.1f °" % (label, core, skin, 1000 * lag / (2 * math.pi * RATE), apart))
    return 0


if __name__ == "__main__":
    sys.exit(main())
