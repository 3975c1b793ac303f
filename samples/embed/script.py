#!/usr/bin/env python3
"""Write the path of the scripted hand, t,x,y,z,qw,qx,qy,qz every millisecond: down into the bowl of the spoon, to and fro
in it, and up again. README.md describes it."""

from math import pi, sin


def smooth(t, start, end):
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def main():
    print("t,x,y,z,qw,qx,qy,qz")
    for k in range(1501):
        t = 0.001 * k
        x = 0.22 + 0.01 * sin(6 * pi * (t - 0.5)) * smooth(t, 0.5, 0.6) * (1.0 - smooth(t, 0.9, 1.0))
        z = 0.03 - 0.045 * smooth(t, 0.0, 0.5) + 0.045 * smooth(t, 1.0, 1.5)
        # simscene takes the pose for step k at the time (k - 1) h + h. At this very number it does not interpolate.
        print("%.17g,%.9g,0,%.9g,1,0,0,0" % ((k - 1) * 0.001 + 0.001, x, z))


main()
