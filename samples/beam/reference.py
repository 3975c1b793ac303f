"""Errors of frequencies: reference.py N:COARSE.csv N:MIDDLE.csv N:FINE.csv TABLE.csv. N is the number of cells across the beam, and each line
of the table is a type and what solve.py prints.

The exact frequencies are estimated from three meshes by Richardson extrapolation: f = exact + c N^-p, where p is found by bisection. Prints the
table with the relative error of each frequency and the largest of them, and the estimates on standard error.
"""
import sys


def order(n, f):
    """p of the error c n^-p, from three values; the ratio of their differences decreases with p."""
    low, high = 0.1, 8.0
    for _ in range(60):
        p = (low + high) / 2
        h = [k ** -p for k in n]
        if (h[0] - h[1]) / (h[1] - h[2]) < (f[0] - f[1]) / (f[1] - f[2]):
            low = p
        else:
            high = p
    return p


def main():
    files = [argument.split(':') for argument in sys.argv[1:4]]
    n, values = [int(k) for k, _ in files], []
    for _, path in files:
        with open(path) as file:
            values.append([float(f) for f in file.read().split(',')[2:]])
    exact = []
    for f in zip(*values):
        p = order(n, f)
        h = [k ** -p for k in n]
        exact.append(f[2] - (f[1] - f[2]) / (h[1] - h[2]) * h[2])
        print('%.6f rad/us; %d cells across are %.1e above it, order %.2f' % (exact[-1], n[2], f[2] / exact[-1] - 1, p), file=sys.stderr)
    print('type,dof,seconds,error1,error2,error3,largest')
    with open(sys.argv[4]) as file:
        for line in file:
            name, dof, seconds, *found = line.strip().split(',')
            errors = [float(f) / e - 1 for f, e in zip(found, exact)]
            print(name, dof, seconds, *['%.3e' % e for e in errors], '%.3e' % max(map(abs, errors)), sep=',')


main()
