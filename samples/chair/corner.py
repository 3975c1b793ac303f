#!/usr/bin/env python3
"""Write where the corner of the two walls goes as a path on standard output: each wall in turn, and both, is pressed by `DEEP` m
into the chair, within half a second."""

from math import cos, pi, radians, sin

DEEP = 0.07
AWAY = -0.005
LEAN = radians(20)
# time, how far along the normal of the wall behind, and of that beside
STOPS = ((0, 0, 0), (0.5, 1, 0), (1, 1, 1), (1.5, 0, 1), (2, 0, 0), (2.5, 0, 0))

print("t,x,y,z,qw,qx,qy,qz")
for (start, *before), (end, *after) in zip(STOPS, STOPS[1:]):
    for step in range(50):
        part = (1 - cos(pi * step / 50)) / 2
        behind, beside = (AWAY + (DEEP - AWAY) * (a + (b - a) * part) for a, b in zip(before, after))
        print("%.3f,%.6f,%.6f,%.6f,1,0,0,0" % (start + (end - start) * step / 50, behind, beside * cos(LEAN), beside * sin(LEAN)))
