#!/usr/bin/env python3
"""Write the path of the hand that holds the metal part, t,x,y,z,qw,qx,qy,qz every 10 ms: down between the hoses with the disk flat,
to and fro once it is between them, tilted to get it through, and up again on the other way round."""

from math import cos, pi, radians, sin


def smooth(t, start, end):
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def main():
    print("t,x,y,z,qw,qx,qy,qz")
    for i in range(601):
        t = 0.01 * i
        z = 0.34 - 0.29 * smooth(t, 0.0, 1.6) - 0.27 * smooth(t, 2.6, 3.8) + 0.50 * smooth(t, 4.2, 5.8)
        along = 0.09 * smooth(t, 1.6, 2.0) - 0.18 * smooth(t, 1.9, 2.4) + 0.09 * smooth(t, 2.4, 2.7)
        across = 0.03 * sin(2 * pi * t) * smooth(t, 1.6, 1.8) * (1.0 - smooth(t, 2.4, 2.6))
        tilt = radians(25.0) * smooth(t, 2.5, 2.9) * (1.0 - smooth(t, 3.7, 4.1)) - radians(30.0) * smooth(t, 4.2, 4.6) * (1.0 - smooth(t, 5.4, 5.8))
        print("%g,%.9g,%.9g,%.9g,%.12g,%.9g,0,0" % (t, along, across, z, cos(tilt / 2), sin(tilt / 2)))


main()
