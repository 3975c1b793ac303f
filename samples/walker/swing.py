"""The belly: swing.py NAME=CSV ... prints how far a probe moves up and down in the last period, in mm."""

import csv
import sys

import figure

for argument in sys.argv[1:]:
    name, path = argument.split("=")
    with open(path) as file:
        rows = list(csv.DictReader(file))
    end = float(rows[-1]["time"])
    column = next(key for key in rows[0] if key.endswith("_z"))
    heights = [float(row[column]) for row in rows if float(row["time"]) >= end - figure.PERIOD]
    print("%-48s %8.1f" % (name, 1e3 * (max(heights) - min(heights))))
