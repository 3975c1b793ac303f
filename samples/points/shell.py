"""Reads members of Supple files with the standard library, and places the points of a shell."""

import array
import ast
import struct
import zipfile


def member(path, name):
    """Numbers of the member of this name, or of the blocks whose names begin with it, and the shape of the last."""
    values, shape = None, None
    with zipfile.ZipFile(path) as file:
        for one in file.namelist():
            if one != name + ".npy" and not (name.endswith("/") and one.startswith(name)):
                continue
            data = file.read(one)
            end = 10 + struct.unpack("<H", data[8:10])[0]
            header = ast.literal_eval(data[10:end].decode())
            part = array.array({"<f8": "d", "<i8": "q", "<f4": "f", "|u1": "B"}[header["descr"]], data[end:])
            values, shape = part if values is None else values + part, header["shape"]
    return values, shape


def frames(path):
    """Coordinates of each frame of a reduced trajectory."""
    q, shape = member(path, "q/")
    return [q[k : k + shape[1]] for k in range(0, len(q), shape[1])]


def moved(rest, change, q):
    """Vectors of three: rest + change q."""
    r = len(q)
    return [rest[i] + sum(map(float.__mul__, change[r * i : r * i + r], q)) for i in range(len(rest))]
