#!/usr/bin/env python3
"""damage.py FILE FOLDER [KEEP…]: writes every kind of damaged copy of an .npz of ours into FOLDER, named by the damage.

cut-*      truncated                       flip-M    a bit in the values of member M (its CRC is then wrong)
header-M   a bit in the header of M        drop-M    M is missing
short-M    one row less                    nan-M     one value is not a number (CRC is right)
type-M     8-byte numbers of the other type          rank-M    one dimension more
and tail (bytes behind the end), text, empty, zeros, twice, behind, kind, version, meta-text, meta-list, meta-hash (another mesh).
Members named in KEEP are neither dropped, shortened nor given NaN: they are optional or not looked at."""
import io
import json
import os
import struct
import sys
import warnings
import zipfile

path, folder, keep = sys.argv[1], sys.argv[2], set(sys.argv[3:])
warnings.simplefilter('ignore')
whole = open(path, 'rb').read()
members = []
with zipfile.ZipFile(path) as archive:
    for info in archive.infolist():
        name_length, extra_length = struct.unpack_from('<HH', whole, info.header_offset + 26)
        members.append((info.filename, archive.read(info), info.header_offset + 30 + name_length + extra_length))


def put(name, data):
    with open(os.path.join(folder, name.replace('/', '_') + '.npz'), 'wb') as file:
        file.write(data)


def pack(name, entries):
    data = io.BytesIO()
    with zipfile.ZipFile(data, 'w') as archive:
        for entry in entries:
            archive.writestr(zipfile.ZipInfo(entry[0]), entry[1])
    put(name, data.getvalue())


def flipped(at):
    copy = bytearray(whole)
    copy[at] ^= 0x10
    return bytes(copy)


def parse(data):
    """descr, order, shape and the values of an .npy"""
    length = struct.unpack_from('<H', data, 8)[0]
    header = eval(data[10:10 + length].decode(), {})
    return header['descr'], header['fortran_order'], header['shape'], data[10 + length:]


def build(descr, order, shape, values):
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    text += ' ' * (-(len(text) + 11) % 64) + '\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode() + values


def replaced(index, data):
    return [(n, data if i == index else d) for i, (n, d, _) in enumerate(members)]


def meta_with(**changes):
    meta = json.loads(parse(members[0][1])[3])
    meta.update(changes)
    return meta


def text_member(text):
    data = text.encode()
    return build('|u1', False, '(%d,)' % len(data), data)


size = len(whole)
for cut in 3, 40, size // 4, size // 2, 3 * size // 4, size - 60, size - 1:
    put('cut-%d' % cut, whole[:cut])
put('empty', b'')
put('text', b'this is no archive\n')
put('zeros', bytes(4096))
put('tail', whole + b'x')
for index, (name, data, at) in enumerate(members):
    short = name[:-4]
    descr, order, shape, values = parse(data)
    put('header-' + short, flipped(at + 20))
    if values:
        put('flip-' + short, flipped(at + len(data) - (len(values) + 1) // 2))
    if short in keep or short in ('meta', 'result'):
        continue
    pack('drop-' + short, [(n, d) for i, (n, d, _) in enumerate(members) if i != index])
    pack('rank-' + short, replaced(index, build(descr, order, shape + (1,), values)))
    if descr in ('<f8', '<i8'):
        pack('type-' + short, replaced(index, build({'<f8': '<i8', '<i8': '<f8'}[descr], order, shape, values)))
    if descr == '<f8' and values:
        middle = len(values) // 16 * 8
        pack('nan-' + short, replaced(index, build(descr, order, shape, values[:middle] + struct.pack('<d', float('nan')) + values[middle + 8:])))
    if shape and shape[-1 if order else 0] > 1:
        axis = len(shape) - 1 if order else 0  # the slowest index, whose last slice is at the end of the data
        fewer = shape[:axis] + (shape[axis] - 1,) + shape[axis + 1:]
        pack('short-' + short, replaced(index, build(descr, order, fewer, values[:len(values) // shape[axis] * (shape[axis] - 1)])))
entries = [(n, d) for n, d, _ in members]
pack('drop-result', entries[:-1])
pack('twice', entries[:-1] + entries[1:2] + entries[-1:])
pack('behind', entries + [('more.npy', entries[1][1])])
pack('kind', replaced(0, text_member(json.dumps(meta_with(kind='nonsense')))))
pack('version', replaced(0, text_member(json.dumps(meta_with(format_version='2.0')))))
pack('meta-text', replaced(0, text_member('{"kind": ')))
pack('meta-list', replaced(0, text_member('[]')))
if 'mesh' in meta_with():
    pack('meta-hash', replaced(0, text_member(json.dumps(meta_with(mesh='0' * 64)))))
