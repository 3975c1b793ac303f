#!/usr/bin/env python3
"""Write the materials of the bar with fibres in a direction as JSON.

    python3 materials.py none|horizontal|vertical|diagonal|helical > materials.json
"""

import json
import math
import sys

DIRECTIONS = {
    "none": None,
    "horizontal": [1, 0, 0],
    "vertical": [0, 0, 1],
    "diagonal": [math.sqrt(0.5), 0, math.sqrt(0.5)],
    "helical": {"helix": {"axis": [0, 0, 1], "centre": [0, 0, 0], "angle": 45}},
}


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in DIRECTIONS:
        print("usage: materials.py " + "|".join(DIRECTIONS), file=sys.stderr)
        return 2
    material = {"name": "body", "law": "stable-neo-hookean", "young": 1e4, "poisson": 0.4, "density": 1000}
    if DIRECTIONS[sys.argv[1]]:
        material.update(fibre="stvk", fibre_stiffness=1e4, fibre_direction=DIRECTIONS[sys.argv[1]])
    json.dump([material], sys.stdout, indent=4)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
