#!/usr/bin/env python3
"""The path of the device that holds the dinosaur, to standard output: towards the dragon, a rest, and back. The
dinosaur is turned by 90 degrees about z, so that its snout, 1.92 m before its origin, points towards -y."""

HALF = 0.5**0.5
print("t,x,y,z,qw,qx,qy,qz")
for t, y in ((0, 2.40), (0.5, 1.7), (0.7, 1.7), (1, 2.3)):
    print("%g,-0.63,%g,-0.08,%.16g,0,0,%.16g" % (t, y, HALF, -HALF))
