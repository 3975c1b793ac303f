"""The densities of the displacement at several levels, divided by the density of the pressure, in one table:

    levels.py OUT.csv DENSITY=PSD.csv...

Prints for each level the frequency of the highest peak, its height, and the root mean square over that of the lowest level, divided by the
ratio of the pressures: 1 for a linear panel."""
import csv
import sys

columns, names, first = {}, [], None
print('pressure, Pa^2/Hz; highest peak, Hz; its height, m^2/Pa^2; rms relative to a linear panel')
for argument in sys.argv[2:]:
    density, path = argument.split('=')
    names.append(density)
    with open(path) as file:
        rows = [(float(r['frequency']), [float(v) for k, v in r.items() if k.endswith('z')][0] / float(density)) for r in csv.DictReader(file)]
    step = rows[1][0] - rows[0][0]
    size = sum(value for _, value in rows) * step
    first = size if first is None else first
    top = max(rows, key=lambda row: row[1])
    print('%s; %.0f; %.3g; %.2f' % (density, top[0], top[1], (size / first) ** 0.5))
    for frequency, value in rows:
        columns.setdefault(frequency, []).append(value)
with open(sys.argv[1], 'w') as out:
    out.write('frequency,' + ','.join('%s Pa^2/Hz' % n for n in names) + '\n')
    for frequency, values in sorted(columns.items()):
        if frequency <= 1200:
            out.write('%.9g,%s\n' % (frequency, ','.join('%.9g' % v for v in values)))
