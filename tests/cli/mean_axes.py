"""The deformation of a free body apart from its rigid motion, by singular value decompositions, beside what the programs
make of it. mean_axes.py MESH MASS ONE TWO TABLE BASIS TRAINING: two full-order trajectories, the table of simcompare
--deformation, the basis of the first by masspca --remove-rigid, and its poses by cubature --training-only."""
import csv
import sys

import numpy as np

mesh, mass, one, two, table, basis, training = sys.argv[1:]
X = np.load(mesh)["vertices"]
file = np.load(mass)
M = np.zeros(file["shape"])
for row, dof in enumerate(file["dof"]):
    entries = slice(file["indptr"][row], file["indptr"][row + 1])
    M[dof, file["dof"][file["indices"][entries]]] = file["data"][entries]
scalar = M[::3, ::3]  # the same for each component
weight = scalar.sum(axis=1)
arm = X - weight @ X / weight.sum()


def deformation(path):
    frames = []
    for u in np.load(path)["u/000000"]:
        x = X + u
        y = x - weight @ x / weight.sum()
        U, _, Vt = np.linalg.svd(y.T @ (scalar @ arm))
        turn = U @ np.diag([1, 1, np.linalg.det(U @ Vt)]) @ Vt
        frames.append((y @ turn - arm).ravel())
    return np.array(frames)


def check(name, error, bound):
    print(f"{name}: {error:.1e}")
    if not error <= bound:
        sys.exit(f"{name}: {error} is above {bound}")


a, b = deformation(one), deformation(two)
rows = {row[0]: row for row in csv.reader(open(table))}
check("L2", abs(float(rows["deformation L2"][4]) / (np.linalg.norm(a - b) / np.linalg.norm(b)) - 1), 1e-9)
size = np.linalg.norm(b.reshape(len(b), -1, 3), axis=2).max()
largest = np.linalg.norm((a - b).reshape(len(b), -1, 3), axis=2).max() / size
check("largest", abs(float(rows["deformation max"][4]) / largest - 1), 1e-9)

# the frames are in the span of all columns, and the poses are their coordinates
U = np.load(basis)["U"]
values = np.linalg.svd(np.linalg.cholesky(M).T @ a.T, compute_uv=False)
kept = np.load(basis)["singular_value"]
check("singular values", abs(values[: len(kept)] - kept).max() / values[0], 1e-10)
q = np.load(training)["q"]
q = q if q.shape[0] == U.shape[1] else q.T
check("poses", abs(U @ q - a.T).max() / abs(a).max(), 1e-9)
