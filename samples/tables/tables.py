#!/usr/bin/env python3
"""Print one table of the papers with the bodies of out/ above those of paper.csv.

    python3 tables.py geometry|polynomials|derivatives|sketch|runtime BODY…
"""

import csv
import json
import pathlib
import re
import subprocess
import sys

OUT = pathlib.Path("out")
PAPER = pathlib.Path(__file__).with_name("paper.csv")
COLUMNS = {
    "geometry": ["vertices of the surface", "triangles", "resolution", "vertices of the mesh", "voxels"],
    "polynomials": ["r", "voxels", "time [s]", "size [KiB]"],
    "derivatives": ["k", "modes [s]", "right-hand sides [s]", "solutions [s]", "both [s]", "whole command [s]"],
    "sketch": ["loads", "snapshots", "time [s]"],
    "runtime": ["r", "force [µs]", "stiffness [µs]", "both [µs]", "solution [µs]", "step [µs]", "u = Uq, mesh [µs]",
                "u = Uq, surface [µs]"],
}


def information(body, part):
    """What siminfo says about a file of this body."""
    run = subprocess.run(["siminfo", "--json", OUT / f"{body}-{part}.npz"], check=True, capture_output=True)
    return json.loads(run.stdout)


def shape(body, part, member):
    for entry in information(body, part)["members"]:
        if entry["name"] == member:
            return entry["shape"]
    sys.exit(f"tables.py: {body}-{part}.npz: no member {member}")


def seconds(body, part):
    """As spent.py wrote them, to hundredths."""
    value = float((OUT / f"{body}-{part}.npz.s").read_text(encoding="ascii"))
    return f"{value:.2f}" if value < 10 else cell(value)


def geometry(body):
    return [shape(body, "mesh", "surface/vertices")[0], shape(body, "mesh", "surface/triangles")[0],
            information(body, "mesh")["meta"]["parameters"]["resolution"],
            shape(body, "mesh", "vertices")[0], shape(body, "mesh", "hex")[0]]


def polynomials(body):
    return [shape(body, "basis", "U")[1], shape(body, "mesh", "hex")[0], seconds(body, "poly"),
            (OUT / f"{body}-poly.npz").stat().st_size / 1024]


def derivatives(body):
    # "processor time: right-hand sides 0.94 s, stiffness and factorization 0.92 s, solutions 1.01 s", three times
    lines = (OUT / f"{body}-parts.txt").read_text(encoding="utf-8").splitlines()
    runs = [re.findall(r"([0-9.]+) s", line) for line in lines if "processor time" in line]
    loads, factor, solutions = (min(float(run[part]) for run in runs) for part in range(3))
    return [shape(body, "modes", "U")[1], seconds(body, "modes"), f"{loads:.2f}", f"{factor + solutions:.2f}",
            f"{loads + factor + solutions:.2f}", seconds(body, "derivatives")]


def sketch(body):
    result = information(body, "snapshots")["result"]
    return [result["solved"], result["snapshots"], seconds(body, "snapshots")]


def runtime(body):
    lines = (OUT / f"{body}-runtime.txt").read_text(encoding="ascii").splitlines()
    took = {name: float(value) for name, value in (line.split() for line in lines)}
    return [shape(body, "basis", "U")[1], None, None, took["evaluation"], took["step"] - took["evaluation"],
            took["step"], took["mesh"], took["surface"]]


def cell(value):
    """Three digits of a measured number, all of a count and of a text."""
    if value is None:
        return ""
    return str(value) if isinstance(value, (int, str)) else f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def rows(table, bodies):
    """The header, the bodies, and those of the paper."""
    yield [table] + COLUMNS[table]
    for body in bodies:
        yield [body] + [cell(value) for value in globals()[table](body)]
    with open(PAPER, encoding="ascii", newline="") as file:
        for row in csv.reader(file):
            if row[0] == table:
                yield [f"paper: {row[1]}"] + row[2:] + [""] * (len(COLUMNS[table]) + 2 - len(row))


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in COLUMNS:
        print(f"usage: tables.py {'|'.join(COLUMNS)} BODY…", file=sys.stderr)
        return 2
    lines = list(rows(sys.argv[1], sys.argv[2:]))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for line in lines:
        print("  ".join([line[0].ljust(widths[0])] + [text.rjust(width) for text, width in zip(line[1:], widths[1:])]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
