#!/usr/bin/env python3
"""Momentum, height and depth of a free body along its motion.

    python3 momentum.py MESH.npz MOTION.npz DENSITY GRAVITY >table.csv

DENSITY in kg/m3, GRAVITY in m/s2 along -z; the mesh is of tetrahedra. Columns: time, height of the centre of mass and of the lowest
vertex (m; the ground is at 0), vx, vy, vz of the centre of mass (m/s), how far vz is from that of free fall, m vz + m g t by m g t, and
kinetic + strain energy + that of the height [J] (energy of the ground left out) less that at the start, height of the highest vertex.
"""
import array
import ast
import struct
import sys
import zipfile


def read(file, name):
    data = file.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    return head["shape"], array.array({"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "|u1": "B"}[head["descr"]], data[10 + length:])


def vertex_mass(mesh, density):
    """A quarter of each tetrahedron goes to each of its corners: the row sums of the consistent mass, so that momentum is right."""
    _, x = read(mesh, "vertices")
    (count, _), corner = read(mesh, "tet")
    mass = [0.0] * (len(x) // 3)
    for e in range(count):
        a, b, c, d = corner[4 * e:4 * e + 4]
        u, v, w = ([x[3 * p + k] - x[3 * a + k] for k in range(3)] for p in (b, c, d))
        volume = (u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])) / 6
        for p in (a, b, c, d):
            mass[p] += density * volume / 4
    return x, mass


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: momentum.py MESH.npz MOTION.npz DENSITY GRAVITY")
    density, gravity = map(float, sys.argv[3:])
    with zipfile.ZipFile(sys.argv[1]) as mesh:
        x, mass = vertex_mass(mesh, density)
    total, rows = sum(mass), len(x)
    start = sum(m * z for m, z in zip(mass, x[2::3])) / total
    print("time,height,lowest,vx,vy,vz,fall,energy,highest")
    with zipfile.ZipFile(sys.argv[2]) as motion:
        blocks = sorted(n[5:-4] for n in motion.namelist() if n.startswith("time/"))
        for block in blocks:
            (frames,), time = read(motion, "time/" + block)
            (_, parts), energies = read(motion, "energy/" + block)
            _, u = read(motion, "u/" + block)
            _, v = read(motion, "udot/" + block)
            for f in range(frames):
                z = u[rows * f + 2:rows * (f + 1):3]
                height = start + sum(m * h for m, h in zip(mass, z)) / total
                velocity = [sum(m * s for m, s in zip(mass, v[rows * f + k:rows * (f + 1):3])) / total for k in range(3)]
                impulse = gravity * time[f]
                fall = (velocity[2] + impulse) / impulse if impulse > 0 else 0
                kinetic, strain = energies[parts * f:parts * f + 2]
                heights = [a + b for a, b in zip(x[2::3], z)]
                energy = kinetic + strain + total * gravity * (height - start)
                print("%.17g,%.9g,%.9g,%.9g,%.9g,%.9g,%.3g,%.9g,%.9g" % (
                    time[f], height, min(heights), *velocity, fall, energy, max(heights)))


if __name__ == "__main__":
    main()
