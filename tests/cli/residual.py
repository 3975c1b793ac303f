#!/usr/bin/env python3
"""The residual of a trajectory of a reduced model in the full-order equation, assembled with NumPy and SciPy.

    residual.py MESH BASIS TRAJECTORY VERTEX FX FY FZ GX GY GZ STATIC ALPHA BETA

prints the largest difference between the energies of the trajectory's `residual` and its own, relative to the largest
of them, for a mesh of 8-node hexahedra of one material stvk, under a constant force on a vertex and gravity.
"""
import json
import sys

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

POINTS = np.polynomial.legendre.leggauss(3)
SIGNS = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1],
                  [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float)


class Body:
    """Forces, stiffness at rest and consistent mass of hexahedra, over all degrees of freedom."""

    def __init__(self, mesh):
        material = json.loads(mesh['meta'].tobytes())['materials'][0]
        young, poisson = material['young'], material['poisson']
        self.lame = (young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson)))
        self.hexahedra, vertices = mesh['hex'], mesh['vertices']
        self.size = vertices.size
        self.rows = (3 * self.hexahedra[:, :, None] + np.arange(3)).reshape(len(self.hexahedra), 24)
        self.points = []
        mass = np.zeros((len(self.hexahedra), 8, 8))
        for x, a in zip(*POINTS):
            for y, b in zip(*POINTS):
                for z, c in zip(*POINTS):
                    factors = 1 + SIGNS * [x, y, z]
                    shape = factors.prod(1) / 8
                    local = np.stack([SIGNS[:, k] * np.delete(factors, k, 1).prod(1) / 8 for k in range(3)], 1)
                    jacobian = np.einsum('eai,ak->eik', vertices[self.hexahedra], local)
                    weight = a * b * c * np.linalg.det(jacobian)
                    self.points.append((np.einsum('ak,eki->eai', local, np.linalg.inv(jacobian)), weight))
                    mass += material['density'] * weight[:, None, None] * np.outer(shape, shape)
        self.mass = self.assemble(np.einsum('eab,ij->eaibj', mass, np.eye(3)).reshape(-1, 24, 24))

    def assemble(self, blocks):
        i = np.repeat(self.rows, 24, 1).ravel()
        j = np.tile(self.rows, (1, 24)).ravel()
        return sparse.csc_matrix((blocks.ravel(), (i, j)), (self.size, self.size))

    def stress(self, strain):
        return self.lame[0] * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 2 * self.lame[1] * strain

    def force(self, u):
        f = np.zeros(self.size)
        nodal = u.reshape(-1, 3)[self.hexahedra]
        for gradient, weight in self.points:
            H = np.einsum('eai,eaj->eij', nodal, gradient)
            F = H + np.eye(3)
            S = self.stress((H + H.transpose(0, 2, 1) + H.transpose(0, 2, 1) @ H) / 2)
            np.add.at(f, self.rows, np.einsum('e,eij,eaj->eai', weight, F @ S, gradient).reshape(-1, 24))
        return f

    def rate(self, u, v):
        """K(u) v, by the exact difference of a cubic polynomial."""
        h = 1e-1
        d = [self.force(u + k * h * v) - self.force(u - k * h * v) for k in (1, 2)]
        return (8 * d[0] - d[1]) / (12 * h)

    def stiffness(self):
        K = 0
        first, shear = self.lame
        for gradient, weight in self.points:
            dot = np.einsum('eai,ebi->eab', gradient, gradient)
            block = first * np.einsum('eai,ebj->eaibj', gradient, gradient)
            block += shear * np.einsum('eaj,ebi->eaibj', gradient, gradient)
            block += shear * np.einsum('eab,ij->eaibj', dot, np.eye(3))
            K = K + weight[:, None, None] * block.reshape(-1, 24, 24)
        return self.assemble(K)


def series(file, name):
    return np.concatenate([file[n] for n in sorted(file.files) if n.startswith(name + '/')])


def main():
    mesh, basis, trajectory = (np.load(path) for path in sys.argv[1:4])
    vertex, load, gravity = int(sys.argv[4]), np.array(sys.argv[5:8], float), np.array(sys.argv[8:11], float)
    static, alpha, beta = int(sys.argv[11]), float(sys.argv[12]), float(sys.argv[13])
    body = Body(mesh)
    free = np.setdiff1d(np.arange(body.size), (3 * mesh['fixed'][:, None] + np.arange(3)).ravel())
    r = trajectory['q/000000'].shape[1]
    U = basis['U'][:, :r]
    K = body.stiffness()[free][:, free]
    solve = linalg.factorized(K)
    full = body.mass @ np.tile(gravity, body.size // 3)
    full[3 * vertex:3 * vertex + 3] += load
    reduced_mass = U.T @ (body.mass @ U)
    expected = []
    for time, q, v in zip(series(trajectory, 'time'), series(trajectory, 'q'), series(trajectory, 'qdot')):
        F = full * (0 if static and time == 0 else 1)
        R = F - body.force(U @ q)
        if not static:
            R -= beta * body.rate(U @ q, U @ v) if beta else 0
            R -= body.mass @ (U @ np.linalg.solve(reduced_mass, U.T @ R))  # the acceleration, with alpha v
        R = R[free]
        u = (U @ q)[free]
        expected.append((R @ solve(R) / 2, (u @ (K @ u) + (0 if static else v @ reduced_mass @ v)) / 2))
    expected, actual = np.array(expected), series(trajectory, 'residual')
    print(np.max(np.abs(actual[:, 0] - expected[:, 0])) / np.max(expected[:, 0]),
          np.max(np.abs(actual[:, 2] - expected[:, 1])) / np.max(expected[:, 1]))


if __name__ == '__main__':
    main()
