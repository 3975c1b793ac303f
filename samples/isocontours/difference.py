#!/usr/bin/env python3
"""How far approximate fields are from the exact one near the surface: difference.py EXACT.npz APPROXIMATE.npz. Prints the median and the largest
of the differences where the exact distance is less than 5 cm, and the volume that only the approximate field takes for inside, in parts of the body's."""
import array, sys, zipfile


def distances(name):
    data = zipfile.ZipFile(name).read("distance.npy")
    return array.array("f", data[10 + data[8] + 256 * data[9]:])


exact, near = distances(sys.argv[1]), distances(sys.argv[2])
off = sorted(abs(a - b) for a, b in zip(exact, near) if abs(a) < 0.05)
inside = sum(a < 0 for a in exact)
extra = sum(b < 0 < a for a, b in zip(exact, near))
print("%.4f %.4f %.3f" % (off[len(off) // 2], off[-1], extra / inside))
