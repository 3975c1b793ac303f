#!/usr/bin/env python3
"""Loads of a force that grows at the end of the beam of 1 m by 0.1 m by 0.1 m: load.py CELLS FORCE STEPS [x]. CELLS is
the number of elements along it. The force in N points downward, or with x along the beam, and is spread evenly over the
end's area. Step k of 1 s has k / STEPS of it."""
import sys

cells, force, steps = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
across = max(1, cells // 10)
along = "%.9g,0,0" if sys.argv[4:] == ["x"] else "0,0,-%.9g"
print("t0,t1,kind,id,fx,fy,fz")
for step in range(steps):
    for j in range(across + 1):
        for k in range(across + 1):
            share = (0.5 if j in (0, across) else 1) * (0.5 if k in (0, across) else 1) / across**2
            place = "near:1,%.6g,%.6g" % (0.1 * j / across - 0.05, 0.1 * k / across - 0.05)
            print("%d,%d,vertex,%s," % (step, step + 1, place) + along % (force * share * (step + 1) / steps))
