#!/usr/bin/env python3
"""Nodes, points and times of a cycle by case and kind of traversal: table.py OUT/CASE-WAY ... Only cycles with contact
count. The median of a cycle's time is that of the whole cycle: coupling, deformation and traversal."""

import csv
import statistics
import sys

print("case  traversal   nodes, mean   nodes, most   contacts, most   force, most   cycle, median   cycle, 99 %")
for name in sys.argv[1:]:
    with open(name + ".csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(name + "-times.csv", encoding="utf-8") as file:
        times = {int(row["step"]): 1e6 * float(row["seconds"]) for row in csv.DictReader(file)}
    touching = [k for k, row in enumerate(rows) if float(row["touching"]) > 0]
    nodes = [float(rows[k]["visited"]) for k in touching]
    spent = sorted(times[k] for k in touching)
    force = max(sum(float(rows[k]["dinosaur.f" + c]) ** 2 for c in "xyz") ** 0.5 for k in touching)
    case, way = name.split("/")[-1].split("-")
    most = max(float(rows[k]["touching"]) for k in touching)
    print("%-6s%-10s%13.0f%14.0f%17.0f%12.0f N%13.0f us%11.0f us" % (case, way, statistics.mean(nodes), max(nodes), most, force, spent[len(spent) // 2], spent[len(spent) * 99 // 100]))
