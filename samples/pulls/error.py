"""Errors of motions of a data set beside the full-order model under the same force: error.py MESH BASIS POLY FOLDER COUNT OPTION...

The motions are the first COUNT of those for tests; OPTION are those of time and damping of simvalidate. Prints the largest and the median error
of position."""
import csv
import os
import statistics
import subprocess
import sys
import tempfile

import numpy as np

mesh, basis, poly, folder, count = sys.argv[1:6]
forces = np.load(os.path.join(folder, 'parameters.npy'))
tests = np.load(os.path.join(folder, 'test.npy'))[:int(count)]

errors = []
with tempfile.TemporaryDirectory() as work:
    loads, table = os.path.join(work, 'pull.csv'), os.path.join(work, 'errors.csv')
    for motion in tests:
        with open(loads, 'w', encoding='utf-8') as file:
            file.write('0,0.25,surface,0,%r,%r,%r\n' % tuple(forces[motion].tolist()))
        subprocess.run(['simvalidate', mesh, '--basis', basis, '--poly', poly, '--loads', loads, '--csv', table, '-q', *sys.argv[6:]],
                       stdout=subprocess.DEVNULL, check=True)
        with open(table, newline='', encoding='utf-8') as file:
            errors += [float(row['position']) for row in csv.DictReader(file) if row['model'] == 'reduced']

print(f'error of position beside the full-order model, {len(errors)} motions for tests: '
      f'largest {max(errors):.2%}, median {statistics.median(errors):.2%}')
