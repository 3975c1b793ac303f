#!/usr/bin/env python3
"""tensor.py K.npz FILE: writes the tensor of quadratic springs between neighbouring unknowns, one for each row of K.npz and one more, without NumPy.

Each spring between the unknowns a = -1 and b = 1 adds the second derivatives 0.5 * (product of three signs), as in formats/tensor.md.
"""
import ast
import struct
import sys
import zipfile


def member(path, name):
    """The header and the data of a member of an archive."""
    data = zipfile.ZipFile(path).read(name + '.npy')
    length = struct.unpack('<H', data[8:10])[0]
    return ast.literal_eval(data[10:10 + length].decode()), data[10 + length:]


def chain(n):
    """Entries i, j, k, value."""
    entries = []
    for s in range(n + 1):
        ends = [(v, sign) for v, sign in ((s - 1, -1), (s, 1)) if 0 <= v < n]
        entries += [(i, j, k, 0.5 * a * b * c) for i, a in ends for j, b in ends for k, c in ends]
    return entries


def array(code, shape, values):
    """The bytes of an .npy file: code d or q of struct."""
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % ({'d': '<f8', 'q': '<i8'}[code], shape)
    header = header.ljust(117) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack('<%d%s' % (len(values), code), *values)


def write(path, n, entries, fill=None):
    """A tensor of order n, with the value at all other places as PyData Sparse writes it (None: without)."""
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('data.npy', array('d', (len(entries),), [e[3] for e in entries]))
        if fill is not None:
            archive.writestr('fill_value.npy', array('d', (), [fill]))
        archive.writestr('shape.npy', array('q', (3,), [n, n, n]))
        archive.writestr('coords.npy', array('q', (3, len(entries)), [e[a] for a in range(3) for e in entries]))


if __name__ == '__main__':
    order = struct.unpack('<q', member(sys.argv[1], 'shape')[1][:8])[0]
    write(sys.argv[2], order, chain(order))
