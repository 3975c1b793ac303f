#!/usr/bin/env python3
"""Write the path of the hand that puts the peg into its hole, t,x,y,z,qw,qx,qy,qz every 10 ms: down beside the axis and a little
tilted, home, pressed, turned to and fro about the axis and shaken, and out again."""

from math import cos, pi, radians, sin, sqrt


def smooth(t, start, end):
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def pose(t):
    z = 0.215 * (1.0 - smooth(t, 0.1, 1.8)) - 0.004 * smooth(t, 1.8, 2.2) + 0.22 * smooth(t, 4.0, 5.0)
    shake = smooth(t, 2.2, 2.4) * (1.0 - smooth(t, 3.8, 4.0))
    aside = 0.012 * (1.0 - smooth(t, 0.4, 2.0)) + 0.003 * shake * sin(2 * pi * 1.5 * t)
    along = 0.008 * sin(2 * pi * 0.8 * t) * (1.0 - smooth(t, 0.4, 1.7)) + 0.003 * shake * cos(2 * pi * 1.1 * t)
    tilt = radians(3.0) * (1.0 - smooth(t, 0.6, 1.6)) + radians(1.0) * shake * sin(2 * pi * 0.9 * t)
    turn = radians(6.0) * sin(2 * pi * 0.6 * t) * (1.0 - smooth(t, 0.6, 1.7)) + radians(2.5) * shake * sin(2 * pi * 2.0 * t)
    v = (0.5 * tilt, 0.0, 0.5 * turn)
    return aside, along, z, sqrt(1 - v[0] ** 2 - v[2] ** 2), *v


def main():
    print("t,x,y,z,qw,qx,qy,qz")
    for i in range(501):
        print("%g,%.9g,%.9g,%.9g,%.12g,%.9g,%.9g,%.9g" % (0.01 * i, *pose(0.01 * i)))


if __name__ == "__main__":
    main()
