#!/usr/bin/env python3
"""Write a hand that turns the alpha, once it lies in the other, by 80° about y within 2 s, as a path on standard output."""

import math

print("t,x,y,z,qw,qx,qy,qz")
for step in range(41):
    half = math.radians(80) * step / 40 / 2
    print("%.2f,0,0,0,0,%.6f,0,%.6f" % (0.05 * step, -math.sin(half), -math.cos(half)))
