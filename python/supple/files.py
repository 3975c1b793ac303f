"""Reads Supple files (formats/container.md) into NumPy arrays. This file works alone, too: copy it under any name.

    from supple import load
    mesh = load('mesh.npz')
    mesh['vertices'], mesh.meta['materials'], mesh.result['sha256']

The blocks of a trajectory, motion or ensemble are joined: load('traj.npz')['q'] is (frames, r). A sparse matrix has its matrix
under 'matrix' where SciPy is installed. load(path, partial=True) reads a truncated file up to its last complete block.
As a program, python3 files.py FILE… (or python3 -m supple FILE…) lists what is in files.
"""
from __future__ import annotations

import hashlib
import io
import json
import os
import re
import struct
import sys
import zipfile
import zlib
from typing import Any, Iterable, Iterator, Optional, Tuple, Union

import numpy as np

MAJOR = 1
SERIES = ('time', 'q', 'qdot', 'u', 'udot', 'energy', 'estimate', 'energy_estimate', 'residual', 'reaction', 'pose',
          'twist', 'wrench', 'counts', 'hand', 'coupling', 'device', 'contact/count', 'contact/body', 'contact/point',
          'contact/place', 'contact/force', 'motion', 'status', 'iterations', 'parameters', 'mean', 'rms', 'least',
          'largest')


class File(dict):
    """The arrays of a file by name."""

    meta: Optional[dict[str, Any]] = None
    """The first member: kind, format_version, parameters and history; None for files of NumPy and SciPy."""
    result: Optional[dict[str, Any]] = None
    """The last member: residuals, counts, warnings."""
    sha256: Optional[str] = None
    """The hash of what was read, which is that of the file where it is complete."""
    truncated: bool = False
    """Whether the file ends early."""

    @property
    def kind(self) -> str:
        """The type of the file, for example "mesh"; "" for files that are not Supple's."""
        return self.meta['kind'] if self.meta else ''


def _array(raw: bytes) -> np.ndarray:
    if raw[:7] != b'\x93NUMPY\x01':
        raise ValueError('not an .npy array of version 1')
    try:
        return np.load(io.BytesIO(raw), allow_pickle=False)
    except (MemoryError, OverflowError):  # a header that states more numbers than follow it
        raise ValueError('damaged: it states more numbers than it has') from None


def _members(path: Any) -> Iterator[Tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)  # checks the CRC


def _complete_members(path: Any) -> Iterator[Tuple[str, bytes]]:
    """The complete members of a truncated file. Local headers have the sizes; they or the 16 bytes behind the data
    have the CRC."""
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
            if flags & 8:  # the checksum is behind the data
                tail = stream.read(24 if wide else 16)
                if len(tail) < 16 or tail[:4] != b'PK\7\10':
                    return
                checksum, = struct.unpack_from('<I', tail, 4)
            if method or len(raw) < size or zlib.crc32(raw) != checksum:
                return
            yield name.decode(), raw


def _join(arrays: File, meta: dict[str, Any]) -> None:
    """Joins the blocks series/000000, series/000001, … of a trajectory, motion or ensemble, as far as all series have
    them."""
    names = [s for s in SERIES if s + '/000000' in arrays]
    if meta['kind'] == 'scene_trajectory':
        expected = 6 + 2 * any(body['r'] > 0 for body in meta['bodies']) + 3 * meta['coupled'] + 5 * meta['contacts']
    elif meta['kind'] == 'ensemble':
        frames = meta['frames'] > 0
        expected = (3 + ('columns' in meta) + (frames and meta['r'] > 0) + ('rates' in meta)
                    + (frames and meta['points'] > 0) + 4 * ('statistics' in meta))
    else:
        expected = (2 + 2 * (meta['r'] > 0) + 2 * (meta['points'] > 0) + ('estimates' in meta)
                    + ('energy_estimates' in meta) + ('residuals' in meta) + ('reactions' in meta)
                    + 2 * ('frame' in meta))
    count = 0
    while len(names) == expected and all(f'{s}/{count:06d}' in arrays for s in names):
        count += 1
    if count == 0:
        raise ValueError(f'the {meta["kind"]} has no whole block')
    for s in names:
        arrays[s] = np.concatenate([arrays[f'{s}/{i:06d}'] for i in range(count)])
    for name in [n for n in arrays if re.fullmatch(r'(%s)/\d+' % '|'.join(SERIES), n)]:
        del arrays[name]


def _read(path: Any, partial: bool) -> Tuple[File, str]:
    """The file with its members as they are, and the name of the last one."""
    file = File()
    digest = hashlib.sha256()
    last = ''
    try:
        members = list(_members(path))
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        if not partial:
            raise ValueError(error) from None
        file.truncated = True
        members = list(_complete_members(path))
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
    return file, last


def _check(file: File, last: str) -> None:
    if file.meta is None:
        if file.truncated:
            raise ValueError('cut short')
        return
    version = str(file.meta.get('format_version'))
    if version.split('.')[0] != str(MAJOR):
        raise ValueError(f'format version {version}')
    if file.truncated or 'tool' not in file.meta:
        return
    if last != 'result' or file.result is None:
        raise ValueError('its last member is not result: cut short')
    if file.result['sha256'] != file.sha256:
        raise ValueError('its SHA-256 is not what it states')


def _add_matrix(file: File) -> None:
    try:
        from scipy import sparse  # type: ignore[import]
    except ImportError:
        return
    make = sparse.csc_matrix if file['format'].item() == b'csc' else sparse.csr_matrix
    file['matrix'] = make((file['data'], file['indices'], file['indptr']), shape=tuple(file['shape']))


def load(path: Union[str, os.PathLike[str]], partial: bool = False) -> File:
    """Reads a file of Supple. `partial` reads a truncated one up to its last complete block. Files of NumPy and SciPy
    come without meta. Raises OSError where there is no such file, and ValueError for one that is not usable."""
    try:
        file, last = _read(path, partial)
        _check(file, last)
        if file.meta and file.kind in ('trajectory', 'scene_trajectory', 'ensemble'):
            _join(file, file.meta)
    except ValueError as error:
        raise ValueError(f'{path}: {error}') from None
    if 'indptr' in file and 'indices' in file:
        _add_matrix(file)
    return file


def main(paths: Iterable[str]) -> int:
    """Prints what is in files. Returns 0, or 3 where one is not usable."""
    for path in paths:
        try:
            file = load(path)
        except (OSError, ValueError) as error:
            print(f'supple: {error}', file=sys.stderr)
            return 3
        print(f'{path}: {file.kind or "not of Supple"}')
        for name, array in file.items():
            about = ' '.join(map(str, (array.dtype, *array.shape))) if isinstance(array, np.ndarray) else 'sparse'
            print(f'    {name:<20s} {about}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
