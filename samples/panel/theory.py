"""The linear response of the panel to a random pressure that is the same everywhere, beside the statistics of simstat.

    theory.py MESH MODES NX NY LENGTH WIDTH VERTEX ALPHA DENSITY LOW HIGH SUMMARY.csv PSD.csv OUT.csv

The modes are those of the finite elements, so that the closed form is exact but for the modes that are left out: with the force P of a unit
of pressure in mode i, the displacement of the vertex along z has the density |sum of phi P / (omega^2 - w^2 + i alpha w)|^2 times that of the
pressure. Prints the mean square root of it, by quadrature over the band, beside that of SUMMARY with its confidence interval, and writes the
densities of both to OUT."""
import array
import csv
import math
import struct
import sys
import zipfile


def numbers(path, member):
    """The numbers of a member of a file, in the order of the file."""
    with zipfile.ZipFile(path) as archive:
        data = archive.read(member + '.npy')
    found = array.array('d')
    found.frombytes(data[10 + struct.unpack_from('<H', data, 8)[0]:])
    return found


mesh, modes = sys.argv[1:3]
nx, ny = int(sys.argv[3]), int(sys.argv[4])
length, width = float(sys.argv[5]), float(sys.argv[6])
vertex = int(sys.argv[7])
alpha, density, low, high = map(float, sys.argv[8:12])
X, U, squares = numbers(mesh, 'vertices'), numbers(modes, 'U'), numbers(modes, 'eigenvalue')

# A pressure on the upper face acts downwards: -p A/4 on each corner of a rectangular face.
cell, pull = length / nx * width / ny, {}
for v in range(len(X) // 3):
    x, y, z = X[3 * v:3 * v + 3]
    if z > 0:
        pull[v] = -cell * (1 if 1e-9 < x < length - 1e-9 else 0.5) * (1 if 1e-9 < y < width - 1e-9 else 0.5)
terms = []
for i, square in enumerate(squares):
    column = U[len(X) * i:len(X) * (i + 1)]
    terms.append((square, column[3 * vertex + 2] * sum(column[3 * v + 2] * f for v, f in pull.items())))


def response(frequency):
    w = 2 * math.pi * frequency
    return abs(sum(share / (square - w * w + 1j * alpha * w) for square, share in terms)) ** 2 * density


PARTS = 20000  # Simpson's rule; the peaks are alpha/2pi wide
step = (high - low) / PARTS
rms = math.sqrt(sum((1 if k in (0, PARTS) else 4 if k % 2 else 2) * response(low + k * step) for k in range(PARTS + 1)) * step / 3)
with open(sys.argv[12]) as file:
    row = [r for r in csv.DictReader(file) if r['signal'].endswith('z')][0]
print('rms of the centre: theory %.4g m, simbatch %.4g m, 95 %% of confidence from %.4g to %.4g m' %
      (rms, float(row['rms']), float(row['rms_low']), float(row['rms_high'])))
with open(sys.argv[13]) as file, open(sys.argv[14], 'w') as out:
    out.write('frequency,theory,simbatch\n')
    for r in csv.DictReader(file):
        f, value = float(r['frequency']), [float(v) for k, v in r.items() if k.endswith('z')][0]
        if low <= f <= high:
            out.write('%.9g,%.9g,%.9g\n' % (f, response(f), value))
