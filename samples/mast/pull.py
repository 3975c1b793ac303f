#!/usr/bin/env python3
"""Loads on the knob of the mast, to standard output: pull.py FORCE STEPS ANGLE [ANGLE ...].

For each ANGLE the force in N grows in STEPS steps of 1 s from 0. It points sideways and by so many degrees below the
horizontal: 90 is straight down, beyond 90 it points to the other side.
"""

import math
import sys

force, steps = float(sys.argv[1]), int(sys.argv[2])
print("t0,t1,kind,id,fx,fy,fz")
for number, angle in enumerate(math.radians(float(word)) for word in sys.argv[3:]):
    for step in range(steps):
        size, t = force * (step + 1) / steps, number * steps + step
        print("%d,%d,region,top,0,%.6g,%.6g" % (t, t + 1, size * math.cos(angle), -size * math.sin(angle)))
