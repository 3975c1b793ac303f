"""The walk of the walker: walk.py FOLDER SECONDS [EASE] writes FOLDER/walk.json, a skeleton, and a path for each
of its bones. With EASE the figure stands at rest at first, and walks after that time in s."""

import json
import pathlib
import sys

import figure

RATE = 240  # lines of a path in a second


def write_path(path, poses):
    lines = ["t,x,y,z,qw,qx,qy,qz"]
    lines += [",".join(repr(float(number)) for number in (k / RATE, *p, *q)) for k, (p, q) in enumerate(poses)]
    path.write_text("\n".join(lines) + "\n")


def main(folder, seconds, ease=0):
    folder = pathlib.Path(folder)
    (folder / "walk").mkdir(parents=True, exist_ok=True)
    bones = []
    for name, parent, at, start, end, radius in figure.BONES:
        write_path(folder / "walk" / (name + ".csv"), [figure.pose(name, k / RATE, ease) for k in range(round(RATE * seconds) + 1)])
        bone = {"joint": "path", "name": name, "parent": parent, "at": at, "path": f"walk/{name}.csv", "segment": [*start, *end], "radius": radius}
        bones.append({key: value for key, value in bone.items() if value is not None})
    (folder / "walk.json").write_text(json.dumps({"bones": bones}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], *map(float, sys.argv[2:]))
