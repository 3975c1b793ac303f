"""Data sets for learning from the motions of simbatch: plain arrays of NumPy, or one file of HDF5, with a split into
training and test, and a card that says how they were made."""
from __future__ import annotations

import importlib
import json
import os
import pathlib
from typing import Any, Callable, Iterator, Literal, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._library import Error, Status
from .files import load

Path = Union[str, os.PathLike[str]]

_BY_MOTION = ('motion', 'iterations', 'parameters', 'q', 'qdot', 'u', 'mean', 'rms', 'least', 'largest')
_OF_MESH = ('vertices', 'hexahedra', 'tetrahedra', 'fixed', 'region')
_MEANING = {
    'motion': 'number of the motion in the ensemble', 'iterations': 'Newton iterations of the motion',
    'parameters': 'what the motions differ in, by the columns below', 'q': 'reduced coordinates [motion, frame, r]',
    'qdot': 'their rates in 1/s', 'u': 'displacements in m [motion, frame, point, 3]',
    'mean': 'means of the signals over all steps', 'rms': 'their root mean squares', 'least': 'their least values',
    'largest': 'their largest values', 'time': 's, of the frames', 'vertex': 'vertex of the mesh of each point',
    'train': 'rows for training', 'test': 'rows for tests', 'U': 'the basis: u = U q, [3·vertices, r]',
    'vertices': 'rest positions in m', 'hexahedra': 'nodes of the elements', 'tetrahedra': 'nodes of the elements',
    'fixed': 'vertices that do not move', 'region': 'region of each element'}


class Dataset(NamedTuple):
    """What export_dataset has written."""
    path: pathlib.Path
    """The folder of the arrays, or the file of HDF5."""
    card: pathlib.Path
    """The text that says what is in it."""
    motions: int
    """Rows, without the motions that failed."""
    train: NDArray[np.int64]
    """Rows for training."""
    test: NDArray[np.int64]
    """Rows for tests."""


def _blocks(archive: Any, name: str) -> Iterator[np.ndarray]:
    """The blocks of a series, one at a time, without the motions that failed."""
    for block in sorted(n for n in archive.files if n.startswith(name + '/')):
        status = archive['status/' + block.rsplit('/', 1)[1]]
        yield archive[block][status == 0]


def _open(path: Path, kind: str) -> Tuple[Any, dict[str, Any]]:
    try:
        archive = np.load(path)
        meta = json.loads(archive['meta'].tobytes())
    except (OSError, ValueError, KeyError) as error:
        raise Error(Status.INPUT, f'{os.fspath(path)}: {error}') from None
    if meta.get('kind') != kind:
        raise Error(Status.INPUT, f'{os.fspath(path)}: it is a file of kind {meta.get("kind")}, expected {kind}')
    return archive, meta


def _numpy_writer(folder: pathlib.Path) -> Tuple[Callable[..., Any], Callable[[], None]]:
    """Arrays as files NAME.npy, which are written block by block."""
    folder.mkdir(parents=True, exist_ok=True)

    def create(name: str, shape: Tuple[int, ...], dtype: Any) -> Any:
        if 0 in shape:
            array = np.zeros(shape, dtype)
            np.save(folder / (name + '.npy'), array)
            return array
        return np.lib.format.open_memmap(folder / (name + '.npy'), 'w+', dtype, shape)

    return create, lambda: None


def _hdf5_writer(path: pathlib.Path) -> Tuple[Callable[..., Any], Callable[[], None]]:
    """Arrays as data sets of one file."""
    try:
        h5py = importlib.import_module('h5py')  # optional
    except ImportError:
        raise Error(Status.SYSTEM, 'format: "hdf5" needs h5py (Debian: python3-h5py)') from None
    path.parent.mkdir(parents=True, exist_ok=True)
    file = h5py.File(path, 'w')
    return (lambda name, shape, dtype: file.create_dataset(name, shape, dtype)), file.close


def _card(ensemble: Path, meta: dict[str, Any], names: list[str], motions: int, failed: int, shares: Tuple[int, int],
          seed: int, error: Optional[str]) -> str:
    lines = [f'# {pathlib.Path(ensemble).stem}', '',
             f'{motions} motions of a reduced-order model, computed by {meta["tool"]} of Supple {meta["version"]}; '
             f'{failed} more failed and are left out. {shares[0]} are for training and {shares[1]} for tests, drawn '
             f'with the seed {seed}.', '', '| array | meaning |', '|---|---|']
    lines += [f'| `{name}` | {_MEANING[name]} |' for name in names]
    if meta.get('columns'):
        lines += ['', 'The columns of `parameters` are ' + ', '.join(f'`{c}`' for c in meta['columns']) + '.']
    lines += ['', 'Error against the full-order model: ' + (error or 'not stated') + '.', '', '| option | value |',
              '|---|---|']
    lines += [f'| `--{name}` | {value} |' for name, value in meta['parameters'].items() if value is not None]
    lines += ['', '| file | SHA-256 |', '|---|---|']
    lines += [f'| {entry["name"]} | `{entry["sha256"]}` |' for entry in meta['inputs']]
    return '\n'.join(lines) + '\n'


def export_dataset(ensemble: Path, output: Path, *, mesh: Optional[Path] = None, basis: Optional[Path] = None,
                   test: float = 0.2, seed: int = 1, error: Optional[str] = None,
                   format: Literal['numpy', 'hdf5'] = 'numpy') -> Dataset:
    """Writes the motions of an ensemble, with its mesh and basis, as plain arrays. Blocks are read one at a time, so
    that the ensemble may be larger than memory. Motions that failed are left out.

    ensemble: a file of simbatch.
    output: "numpy": the folder of the arrays NAME.npy; "hdf5": the file, which needs h5py.
    mesh, basis: files whose vertices, elements and U belong to the data set (None: without).
    test: the part of the motions that is for tests, from 0 to 1.
    seed: of the draw of these.
    error: what the card says of the error of the model, for example the statement of simreduce.
    """
    if not 0 <= test <= 1:
        raise ValueError(f'test: {test} is out of range')
    if format not in ('numpy', 'hdf5'):
        raise ValueError(f'format: {format!r} is neither numpy nor hdf5')
    archive, meta = _open(ensemble, 'ensemble')
    path = pathlib.Path(output)
    status = np.concatenate([archive[n] for n in archive.files if n.startswith('status/')])
    motions = int((status == 0).sum())

    order = np.random.Generator(np.random.Philox(seed)).permutation(motions)
    tests = int(round(test * motions))
    rows = {'train': np.sort(order[tests:]).astype(np.int64), 'test': np.sort(order[:tests]).astype(np.int64)}
    single = {**{n: archive[n] for n in ('time', 'vertex') if n in archive.files}, **rows}
    if mesh is not None:
        arrays = load(mesh)
        single.update({n: arrays[n] for n in _OF_MESH if n in arrays})
    if basis is not None:
        single['U'] = load(basis)['U']

    create, close = (_numpy_writer if format == 'numpy' else _hdf5_writer)(path)
    names = []
    for name in _BY_MOTION:
        if name + '/000000' not in archive.files:
            continue
        to, at = None, 0
        for block in _blocks(archive, name):
            if to is None:
                to = create(name, (motions, *block.shape[1:]), block.dtype)
            to[at:at + len(block)] = block
            at += len(block)
        names.append(name)
    for name, array in single.items():
        create(name, array.shape, array.dtype)[...] = array
        names.append(name)
    close()

    card = (path if format == 'numpy' else path.parent) / 'README.md'
    card.write_text(_card(ensemble, meta, names, motions, len(status) - motions, (motions - tests, tests), seed, error),
                    encoding='utf-8')
    return Dataset(path, card, motions, rows['train'], rows['test'])
