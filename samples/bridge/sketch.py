#!/usr/bin/env python3
"""Write what somebody does who sketches with the bridge of model.py, as loads (CSV) to standard output.

    python3 sketch.py > sketch.csv

The deck is pulled at five places along it, in six strokes each: up, down, to both sides, and up and down at one edge alone, which twists it. A stroke is recorded at 12 places: 360 samples.
The force grows as the power 1.5 of the way.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from soup import write_lines

PLACES = 12
LARGEST = 400000.0  # N, as heavy as the vehicle
INTERVAL = 0.01  # s, between two samples
# The girder is the model's first part: 101 cross-sections 0.2 m apart with 6 vertices, 1 and 2 of which are the road's left and right edge.
STATIONS, RING, LEFT, RIGHT = (17, 34, 50, 66, 83), 6, 1, 2
# Direction, and which edges are pulled.
STROKES = (((0, 0, 1), (LEFT, RIGHT)), ((0, 0, -1), (LEFT, RIGHT)), ((0, 1, 0), (LEFT, RIGHT)), ((0, -1, 0), (LEFT, RIGHT)), ((0, 0, 1), (LEFT,)), ((0, 0, -1), (LEFT,)))


def main():
    if len(sys.argv) > 1:
        print("usage: sketch.py > sketch.csv", file=sys.stderr)
        return 2
    lines = ["t0,t1,kind,id,fx,fy,fz"]
    sample = 0
    for station in STATIONS:
        for direction, edges in STROKES:
            for place in range(PLACES):
                force = LARGEST * ((place + 1) / PLACES) ** 1.5
                for edge in edges:
                    x, y, z = (component * force / len(edges) for component in direction)
                    lines.append("%.2f,%.2f,surface,%d,%.6g,%.6g,%.6g" % (sample * INTERVAL, (sample + 1) * INTERVAL, RING * station + edge, x, y, z))
                sample += 1
    return write_lines(lines)


if __name__ == "__main__":
    sys.exit(main())
