"""Copies a file of ours with one number of a member changed: falsify.py FROM TO MEMBER INDEX FACTOR.

The member is an array of 8-byte reals. The recorded hash stays, and is wrong then."""
import struct
import sys
import zipfile

source, target, member, index, factor = sys.argv[1:]
with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, 'w') as new:
    for name in old.namelist():
        data = bytearray(old.read(name))
        if name == member + '.npy':
            at = 10 + data[8] + 256 * data[9] + 8 * int(index)
            struct.pack_into('<d', data, at, float(factor) * struct.unpack_from('<d', data, at)[0])
        new.writestr(name, bytes(data))
