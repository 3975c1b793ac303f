#!/usr/bin/env python3
"""Beams in domains beside the full-order model of the whole beam.

    python3 compare.py FOLDER MESH FULL WIDTH CSV DOMAINS-R... >table.txt

For each DOMAINS-R, such as 4-20, FOLDER has DOMAINS-D.npz, DOMAINS-D-R-basis.npz and beam-DOMAINS-R.npz. The table has the
relative root mean squares of the differences of positions and velocities over all frames and vertices, positions relative to
displacements, and the largest distance of two copies of a vertex, divided by the width. CSV: the height of the middle of the tip
over time.
"""
import math
import sys
import zipfile

from motion import domains, frames, read, whole


def main():
    folder, mesh, full, width, csv = sys.argv[1:6]
    archive = zipfile.ZipFile(mesh)
    X = read(archive, "vertices")[1]
    end = max(X[::3])
    tip = [v for v in range(len(X) // 3) if X[3 * v] == end]
    reference = list(frames(full, ["time", "u", "udot"]))
    moved = math.sqrt(sum(c * c for _, u, _ in reference for c in u))
    fast = math.sqrt(sum(c * c for _, _, v in reference for c in v))
    heights = [[time[0] for time, _, _ in reference], [sum(u[3 * v + 2] for v in tip) / len(tip) for _, u, _ in reference]]
    print("domains   r   coordinates   position error   velocity error   gap / width")
    for name in sys.argv[6:]:
        kept, motion = domains(folder, name, "%s/beam-%s.npz" % (folder, name))
        position = velocity = widest = 0
        height = []
        for (time, u, udot), (t, _, placed) in zip(reference, motion, strict=True):
            assert abs(time[0] - t) < 1e-9
            seen, gap = whole(kept, placed)
            widest = max(widest, gap)
            for vertex, (x, v) in seen.items():
                at = 3 * vertex
                position += sum((x[a] - X[at + a] - u[at + a]) ** 2 for a in range(3))
                velocity += sum((v[a] - udot[at + a]) ** 2 for a in range(3))
            height.append(sum(seen[v][0][2] - X[3 * v + 2] for v in tip) / len(tip))
        heights.append(height)
        count, r = (int(n) for n in name.split("-"))
        print("%7d  %2d   %11d   %12.1f %%   %12.1f %%   %9.1f %%" %
              (count, r, count * r, 100 * math.sqrt(position) / moved, 100 * math.sqrt(velocity) / fast, 100 * widest / float(width)))
    with open(csv, "w") as out:
        out.write(",".join(["time", "full"] + sys.argv[6:]) + "\n")
        for row in zip(*heights):
            out.write(",".join("%.9g" % c for c in row) + "\n")


main()
