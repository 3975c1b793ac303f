#!/usr/bin/env python3
"""Momenta and energy of a free deformable body along a motion, computed from its mesh and basis as integrals over the voxels.

    python3 momenta.py MESH.npz BASIS.npz MOTION.npz BODY DENSITY GRAVITY [POLY.npz] >momenta.csv

DENSITY in kg/m3, GRAVITY in m/s2 along -z. Columns: time, of the angular momentum about the centre of mass lx, ly, lz (world) and its size
l, the linear momentum less that of gravity's impulse px, py, pz, and kinetic energy. With polynomials the strain energy, too, that the
body has by them, whatever forces it moves by.
"""
import array
import ast
import json
import math
import struct
import sys
import zipfile


def read(file, name):
    """Shape and values, in the order of the file."""
    data = file.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    return head["shape"], array.array({"<f8": "d", "<i8": "q", "<i4": "i", "|u1": "B"}[head["descr"]], data[10 + length:])


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def rotation(q):
    w, x, y, z = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


class Moments:
    """Mass, and the integrals over the body of F_ka and F_ka F_lb, where F_0 = X and the other F_k are the columns of the basis."""

    def __init__(self, mesh, basis, density):
        _, X = read(mesh, "vertices")
        (elements, _), corner = read(mesh, "hex")
        (rows, r), U = read(basis, "U")
        vertices = len(X) // 3
        fields = [[X[3 * v + a] for v in range(vertices)] for a in range(3)]
        fields += [[U[k * rows + 3 * v + a] for v in range(vertices)] for k in range(r) for a in range(3)]
        self.r, n = r, 3 * (r + 1)
        self.mass, self.first, self.second = 0, [0] * n, [[0] * n for _ in range(n)]
        first = corner[:8]
        place = [[X[3 * v + a] for a in range(3)] for v in first]
        volume = math.prod(max(p[a] for p in place) - min(p[a] for p in place) for a in range(3))

        def share(p, q):    # trilinear shape functions: 1/3 along each axis where two corners agree, else 1/6
            return math.prod(1 / 3 if abs(p[a] - q[a]) < 1e-9 else 1 / 6 for a in range(3))

        weight = [[density * volume * share(p, q) for q in place] for p in place]
        lumped, matrix = [0] * vertices, [{} for _ in range(vertices)]
        for e in range(elements):
            c = corner[8 * e:8 * e + 8]
            self.mass += density * volume
            for i in range(8):
                lumped[c[i]] += density * volume / 8
                row = matrix[c[i]]
                for j in range(8):
                    row[c[j]] = row.get(c[j], 0) + weight[i][j]
        for k, f in enumerate(fields):
            self.first[k] = dot(lumped, f)
            product = [sum(m * f[j] for j, m in row.items()) for row in matrix]
            for l in range(k + 1):
                self.second[k][l] = self.second[l][k] = dot(product, fields[l])

    def mean(self, c):
        return [sum(c[k] * self.first[3 * k + a] for k in range(self.r + 1)) / self.mass for a in range(3)]

    def product(self, c, d):
        """[a][b]: the integral of (sum of c_k F_ka)(sum of d_l F_lb)."""
        return [[sum(c[k] * d[l] * self.second[3 * k + a][3 * l + b] for k in range(self.r + 1) if c[k] for l in range(self.r + 1) if d[l])
                 for b in range(3)] for a in range(3)]


def look(moments, R, velocity, turning, q, qdot):
    """Linear momentum, angular momentum about the centre of mass (world) and kinetic energy."""
    def into_body(v):
        return [sum(R[a][b] * v[a] for a in range(3)) for b in range(3)]

    M, w0, O = moments.mass, into_body(velocity), into_body(turning)
    now, rate = [1] + q, [0] + qdot
    S, C, D = moments.product(now, now), moments.product(now, rate), moments.product(rate, rate)
    trace = S[0][0] + S[1][1] + S[2][2]
    y, u = moments.mean(now), moments.mean(rate)
    spin = [C[1][2] - C[2][1], C[2][0] - C[0][2], C[0][1] - C[1][0]]    # of the deformation
    JO = [trace * O[a] - dot(S[a], O) for a in range(3)]
    w = [w0[a] + cross(O, y)[a] + u[a] for a in range(3)]
    relative = [w[a] - w0[a] for a in range(3)]
    L = [JO[a] + spin[a] - M * cross(y, relative)[a] for a in range(3)]
    kinetic = 0.5 * (M * dot(w0, w0) + dot(O, JO) + D[0][0] + D[1][1] + D[2][2]) + dot(O, spin) + M * dot(w0, relative)
    return [M * dot(R[a], w) for a in range(3)], [dot(R[a], L) for a in range(3)], kinetic


def strain_energy(poly):
    """The energy as a function of q: half of z'Az with z of the q_i, the q_i q_j, i < j, and half of the q_i q_i (formats/polynomials.md)."""
    parts = json.loads(bytes(read(poly, "meta")[1]))["parts"]
    single = "gram.npy" in poly.namelist()
    gram = [read(poly, "gram" if single else "gram/%06d" % i) for i in range(len(parts))]
    size = gram[0][0][0]
    A = [math.fsum(part["value"] * g[k] for part, (_, g) in zip(parts, gram)) for k in range(size * size)]

    def energy(q):
        z = q + [(0.5 if i == j else 1) * q[i] * q[j] for i in range(len(q)) for j in range(i, len(q))]
        return 0.5 * math.fsum(z[k] * dot(A[k * size:(k + 1) * size], z) for k in range(size))

    return energy


def main():
    mesh, basis, motion = (zipfile.ZipFile(name) for name in sys.argv[1:4])
    density, gravity = float(sys.argv[5]), float(sys.argv[6])
    bodies = json.loads(bytes(read(motion, "meta")[1]))["bodies"]
    body = [b["name"] for b in bodies].index(sys.argv[4])
    offset, width, count = sum(b["r"] for b in bodies[:body]), sum(b["r"] for b in bodies), len(bodies)
    moments = Moments(mesh, basis, density)
    strain = strain_energy(zipfile.ZipFile(sys.argv[7])) if len(sys.argv) > 7 else None
    print("time,lx,ly,lz,l,px,py,pz,kinetic" + (",elastic" if strain else ""))
    block = 0
    while "time/%06d.npy" % block in motion.namelist():
        time, pose, twist, q, qdot = (read(motion, "%s/%06d" % (name, block))[1] for name in ("time", "pose", "twist", "q", "qdot"))
        for f, t in enumerate(time):
            at, v = 7 * (f * count + body), twist[6 * (f * count + body):6 * (f * count + body) + 6]
            own = slice(f * width + offset, f * width + offset + moments.r)
            P, L, kinetic = look(moments, rotation(pose[at + 3:at + 7]), v[:3], v[3:], list(q[own]), list(qdot[own]))
            P[2] += moments.mass * gravity * t
            elastic = [strain(list(q[own]))] if strain else []
            print(",".join("%.17g" % x for x in [t] + L + [math.sqrt(dot(L, L))] + P + [kinetic] + elastic))
        block += 1


main()
