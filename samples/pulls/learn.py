"""The displacement of a point at all times as a polynomial of the force, fitted to the motions for training: learn.py FOLDER X,Y,Z OUT.csv

The error is the root mean square of the differences over all motions for tests and all times, relative to that of the displacements. Prints it for
polynomials of degree 1 to 5, and for as many motions for training as FEW. Writes the sideways displacement over time, of the motion for tests that
moves the point most, and as degrees 1 and 3 predict it."""
import csv
import itertools
import os
import sys

import numpy as np

DEGREES = (1, 2, 3, 4, 5)
FEW = 100
Y = 1  # sideways


def monomials(x, degree):
    """All products of up to `degree` components, which are between -1 and 1."""
    columns = [np.ones(len(x))]
    for order in range(1, degree + 1):
        columns += [np.prod(x[:, list(chosen)], axis=1) for chosen in itertools.combinations_with_replacement(range(3), order)]
    return np.stack(columns, axis=1)


folder, point, path = sys.argv[1:]
data = {name: np.load(os.path.join(folder, name + '.npy'), mmap_mode='r') for name in ('time', 'parameters', 'q', 'U', 'vertices', 'train', 'test')}
train, test = data['train'], data['test']

# The vertex of the mesh next to the point, and its displacement u = U q: one row of numbers for each motion.
vertex = int(np.argmin(((data['vertices'] - np.array([float(c) for c in point.split(',')])) ** 2).sum(axis=1)))
u = np.einsum('cr,mfr->mfc', data['U'][3 * vertex:3 * vertex + 3], data['q']).reshape(len(data['q']), -1)
x = data['parameters'] / np.abs(data['parameters']).max()

print('degree  coefficients  error with %5d  error with %5d motions for training' % (FEW, len(train)))
largest = test[np.argmax((u[test] ** 2).sum(axis=1))]
curves = {'data': u[largest]}
for degree in DEGREES:
    A, errors = monomials(x, degree), []
    for chosen in train[:FEW], train:
        fit = np.linalg.lstsq(A[chosen], u[chosen], rcond=None)[0]
        errors.append(np.sqrt(((A[test] @ fit - u[test]) ** 2).sum() / (u[test] ** 2).sum()))
    print(f'{degree:6d}  {A.shape[1]:12d}  {errors[0]:16.2e}  {errors[1]:16.2e}')
    curves[f'degree {degree}'] = A[largest] @ fit

with open(path, 'w', newline='', encoding='utf-8') as file:
    out = csv.writer(file)
    shown = ['data', 'degree 1', 'degree 3']
    out.writerow(['time', *shown])
    for frame, time in enumerate(data['time']):
        out.writerow([f'{time:.9g}', *(f'{curves[name][3 * frame + Y]:.9g}' for name in shown)])
