"""Reads Supple files (formats/container.md) into NumPy arrays.

    from supple import load
    mesh = load('mesh.npz')
    mesh['vertices'], mesh.meta['materials'], mesh.result['sha256']

The blocks of a trajectory or motion are joined: load('traj.npz')['q'] is (frames, r). A sparse matrix has its matrix under 'matrix' where
SciPy is installed. load(path, partial=True) reads one that was cut up to its last whole block.
As a program: python3 supple.py FILE… lists what is in files.
"""
import hashlib
import io
import json
import re
import struct
import sys
import zipfile
import zlib

import numpy as np

MAJOR = 1
SERIES = ('time', 'q', 'qdot', 'u', 'udot', 'energy', 'estimate', 'energy_estimate', 'pose', 'twist', 'wrench', 'counts', 'hand', 'coupling', 'device', 'contact/count',
          'contact/body', 'contact/point', 'contact/place', 'contact/force')


class File(dict):
    """The arrays by name; meta and result (parsed), sha256 (computed over what was read), truncated."""
    meta = None
    result = None
    sha256 = None
    truncated = False

    @property
    def kind(self):
        return self.meta['kind'] if self.meta else ''


def _array(raw):
    if raw[:7] != b'\x93NUMPY\x01':
        raise ValueError('not an .npy array of version 1')
    return np.load(io.BytesIO(raw), allow_pickle=False)


def _members(path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)  # checks the CRC


def _whole_members(path):
    """Members of a file that was cut, in front of the cut: local headers hold the sizes, they or 16 bytes behind the data the CRC."""
    with open(path, 'rb') as stream:
        while True:
            head = stream.read(30)
            if len(head) < 30 or head[:4] != b'PK\3\4':
                return
            flags, method = struct.unpack_from('<HH', head, 6)
            checksum, _, size = struct.unpack_from('<III', head, 14)
            name_length, extra_length = struct.unpack_from('<HH', head, 26)
            name, extra = stream.read(name_length), stream.read(extra_length)
            wide = size == 0xffffffff
            while wide and len(extra) >= 4:
                field, length = struct.unpack_from('<HH', extra)
                if field == 1 and length >= 8:
                    size, = struct.unpack_from('<Q', extra, 4)
                    break
                extra = extra[4 + length:]
            raw = stream.read(size)
            if flags & 8:  # the checksum stands behind the data
                tail = stream.read(24 if wide else 16)
                if len(tail) < 16 or tail[:4] != b'PK\7\10':
                    return
                checksum, = struct.unpack_from('<I', tail, 4)
            if method or len(raw) < size or zlib.crc32(raw) != checksum:
                return
            yield name.decode(), raw


def _join(arrays, meta):
    """Blocks series/000000, series/000001, … of a trajectory or motion, as far as all series have them."""
    names = [s for s in SERIES if s + '/000000' in arrays]
    if meta['kind'] == 'scene_trajectory':
        expected = 6 + 2 * any(body['r'] > 0 for body in meta['bodies']) + 3 * meta['coupled'] + 5 * meta['contacts']
    else:
        expected = 2 + 2 * (meta['r'] > 0) + 2 * (meta['points'] > 0) + ('estimates' in meta) + ('energy_estimates' in meta)
    count = 0
    while len(names) == expected and all('%s/%06d' % (s, count) in arrays for s in names):
        count += 1
    if count == 0:
        raise ValueError('the %s has no whole block' % meta['kind'])
    for s in names:
        arrays[s] = np.concatenate([arrays['%s/%06d' % (s, i)] for i in range(count)])
    for name in [n for n in arrays if re.fullmatch(r'(%s)/\d+' % '|'.join(SERIES), n)]:
        del arrays[name]


def load(path, partial=False):
    """A File. ValueError for what is not one of ours; files of NumPy and SciPy come without meta."""
    file = File()
    digest = hashlib.sha256()
    last = None
    try:
        members = list(_members(path))
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        if not partial:
            raise ValueError('%s: %s' % (path, error)) from None
        file.truncated = True
        members = list(_whole_members(path))
    for name, raw in members:
        name = last = name[:-4] if name.endswith('.npy') else name
        array = _array(raw)
        if name != 'result':
            digest.update(name.encode() + b'\0' + raw)
        if name == 'meta' and not file and file.meta is None:
            file.meta = json.loads(array.tobytes())
        elif name == 'result' and file.meta:
            file.result = json.loads(array.tobytes())
        else:
            file[name] = array
    file.sha256 = digest.hexdigest()
    if file.meta is None:
        if file.truncated:
            raise ValueError('%s: cut short' % path)
    else:
        if int(file.meta['format_version'].split('.')[0]) != MAJOR:
            raise ValueError('%s: format version %s' % (path, file.meta['format_version']))
        if not file.truncated and 'tool' in file.meta:
            if last != 'result':
                raise ValueError('%s: its last member is not result: cut short' % path)
            if file.result['sha256'] != file.sha256:
                raise ValueError('%s: its SHA-256 is not what it states' % path)
        if file.kind in ('trajectory', 'scene_trajectory'):
            _join(file, file.meta)
    if 'indptr' in file and 'indices' in file:
        try:
            from scipy import sparse
        except ImportError:
            return file
        make = sparse.csc_matrix if file['format'].item() == b'csc' else sparse.csr_matrix
        file['matrix'] = make((file['data'], file['indices'], file['indptr']), shape=tuple(file['shape']))
    return file


def main(paths):
    for path in paths:
        file = load(path)
        print('%s: %s' % (path, file.kind or 'not of Supple'))
        for name, array in file.items():
            print('    %-20s %s' % (name, ' '.join(map(str, (array.dtype, *array.shape))) if isinstance(array, np.ndarray) else 'sparse'))


if __name__ == '__main__':
    main(sys.argv[1:])
