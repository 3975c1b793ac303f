"""Three points of a response with both folds, and what the full-order model says of them.

    points.py choose CURVE.csv     prints the numbers of the stable point of the largest amplitude, of the point in the middle of the unstable
                                   part, and of the stable point with the smaller amplitude that is nearest to its frequency
    points.py table CURVE.csv NUMBER=MOTION.npz ...     a table of the points and of the results of `simcurve --of --residual --check-full`
"""
import csv
import subprocess
import sys


def read(path):
    with open(path, encoding='ascii') as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def choose(path):
    rows = read(path)
    folds = [i for i, row in enumerate(rows) if row['event'] == 1]
    stable = [i for i, row in enumerate(rows) if row['stable'] == 1 and row['event'] == 0]
    middle = (folds[0] + folds[-1]) // 2
    sides = [[i for i in stable if i < folds[0]], [i for i in stable if i > folds[-1]]]
    nearest = [min(side, key=lambda i: abs(rows[i]['frequency_Hz'] - rows[middle]['frequency_Hz'])) for side in sides]
    print(max(stable, key=lambda i: rows[i]['amplitude_m']), middle, min(nearest, key=lambda i: rows[i]['amplitude_m']))


def result(path):
    """The numbers that siminfo prints of the result of a file."""
    text = subprocess.run(['siminfo', path], stdout=subprocess.PIPE, check=True).stdout.decode()
    words = [line.split()[-2:] for line in text.splitlines()]
    return {name[0]: float(name[1]) for name in words if name and name[0] in ('full_residual', 'closing_position', 'closing_velocity')}


def table(path, *motions):
    rows = read(path)
    print('point,frequency_Hz,amplitude_mm,stable,residual,position,velocity')
    for text in motions:
        number, motion = text.split('=')
        row, found = rows[int(number)], result(motion)
        print('%s,%.2f,%.2f,%d,%.1e,%.1e,%.1e' % (number, row['frequency_Hz'], 1e3 * row['amplitude_m'], row['stable'],
                                                  found['full_residual'], found['closing_position'], found['closing_velocity']))


{'choose': choose, 'table': table}[sys.argv[1]](*sys.argv[2:])
