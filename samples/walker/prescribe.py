"""Displacements of the vertices on the bones, for simfull: prescribe.py SKIN MESH SECONDS STEP EASE writes t,vertex,ux,uy,uz."""

import ast
import struct
import sys
import zipfile

import figure


def member(archive, name):
    """The values of a member, one after another."""
    with zipfile.ZipFile(archive) as file:
        data = file.read(name + ".npy")
    length = struct.unpack("<H", data[8:10])[0]
    kind = ast.literal_eval(data[10 : 10 + length].decode())["descr"]
    return [value for value, in struct.iter_unpack("<" + {"<i8": "q", "<f8": "d"}[kind], data[10 + length :])]


def main(skin, mesh, seconds, step, ease):
    attached, vertices = member(skin, "attached"), member(mesh, "vertices")
    print("t,vertex,ux,uy,uz")
    for k in range(round(seconds / step) + 1):
        maps = [figure.world(bone[0], k * step, ease) for bone in figure.BONES]
        for v, bone in enumerate(attached):
            if bone < 0:
                continue
            x = vertices[3 * v : 3 * v + 3]
            p, q = maps[bone]
            print(k * step, v, *("%.12g" % (a + b - c) for a, b, c in zip(p, figure.rotated(q, x), x)), sep=",")


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(float, sys.argv[3:]))
