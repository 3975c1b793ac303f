#!/usr/bin/env python3
"""How sections of the beam of model.py turn and deform, from poses of its surface.

    python3 sections.py beam.obj NAME=pose.obj ...

In the plane across the beam the section at x is mapped by the 2 x 2 matrix F that fits the way of its vertices best (least
squares). Printed are its rotation by polar decomposition, unwrapped from the held end on, its two stretches and their
product, the ratio of areas; then the ratio of the volumes inside the whole surface.
"""

import math
import sys

PLACES = 6  # sections shown, from the held end to the free one


def read(path):
    vertices, faces = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            word = line.split()
            if word and word[0] == "v":
                vertices.append(tuple(float(w) for w in word[1:4]))
            elif word and word[0] == "f":
                faces.append(tuple(int(w.split("/")[0]) - 1 for w in word[1:4]))
    return vertices, faces


def volume(vertices, faces):
    total = 0.0
    for face in faces:
        (a, b, c), (d, e, f), (g, h, i) = (vertices[k] for k in face)
        total += (a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)) / 6.0
    return total


def sections(rest):
    places = {}
    for k, (x, _, _) in enumerate(rest):
        places.setdefault(round(x, 6), []).append(k)
    return [places[x] for x in sorted(places)]


def fit(section, rest, pose):
    """The 2 x 2 matrix of the least-squares affine map in y and z, as a, b, c, d by rows."""
    middle = [sum(p[k][i] for k in section) / len(section) for p in (rest, pose) for i in (1, 2)]
    moments, mixed = [0.0] * 3, [0.0] * 4
    for k in section:
        y, z = rest[k][1] - middle[0], rest[k][2] - middle[1]
        u, v = pose[k][1] - middle[2], pose[k][2] - middle[3]
        moments = [moments[0] + y * y, moments[1] + y * z, moments[2] + z * z]
        mixed = [mixed[0] + u * y, mixed[1] + u * z, mixed[2] + v * y, mixed[3] + v * z]
    yy, yz, zz = moments
    det = yy * zz - yz * yz
    a, b = (mixed[0] * zz - mixed[1] * yz) / det, (mixed[1] * yy - mixed[0] * yz) / det
    c, d = (mixed[2] * zz - mixed[3] * yz) / det, (mixed[3] * yy - mixed[2] * yz) / det
    return a, b, c, d


def main():
    if len(sys.argv) < 3 or not all("=" in word for word in sys.argv[2:]):
        print("usage: sections.py beam.obj NAME=pose.obj ...", file=sys.stderr)
        return 2
    rest, faces = read(sys.argv[1])
    along = sections(rest)
    shown = [round(i * (len(along) - 1) / (PLACES - 1)) for i in range(PLACES)]
    print("Sections of the beam from the held end to the free one: x at rest, angle, stretch of the width and of the height, and")
    print("their product, the ratio of areas; then the ratio of volumes.")
    for word in sys.argv[2:]:
        name, path = word.rsplit("=", 1)
        pose, _ = read(path)
        print("\n%s" % name)
        print("%10s%12s%10s%10s%10s" % ("x", "angle", "width", "height", "area"))
        angle = 0.0
        for number, section in enumerate(along):
            a, b, c, d = fit(section, rest, pose)
            turned = math.atan2(c - b, a + d)
            angle += (turned - angle + math.pi) % (2 * math.pi) - math.pi
            if number in shown:
                width, height = math.hypot(a, c), math.hypot(b, d)
                print("%8.3f m%10.1f °%10.3f%10.3f%10.3f" % (rest[section[0]][0], math.degrees(angle), width, height, a * d - b * c))
        print("volume %28.4f" % (volume(pose, faces) / volume(rest, faces)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
