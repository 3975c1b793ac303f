"""A strike as half a sine of force, as loads on standard output: strike.py SECONDS IMPULSE PLACE, in N s downward."""

import math
import sys

duration, impulse, where = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
parts = 10
print("t0,t1,kind,id,fx,fy,fz")
for i in range(parts):
    share = (math.cos(math.pi * i / parts) - math.cos(math.pi * (i + 1) / parts)) / 2
    print(f"{duration * i / parts:.9g},{duration * (i + 1) / parts:.9g},vertex,{where},0,0,{-impulse * share * parts / duration:.9g}")
