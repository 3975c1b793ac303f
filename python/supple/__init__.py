"""Supple from Python: reads the files of the programs, and runs bodies and scenes by libsupple.

    import supple
    mesh = supple.load('spoon.npz')                  # any file, as NumPy arrays
    with supple.Body('spoon.npz', 'basis.npz', 'poly.npz') as body:
        body.set_force(body.nearest([2.5, 0, 0]), [0, 0, 500])
        body.start(step=0.003)
        body.step(100)
        body.displacements()                         # [vertices, 3] m

Units are SI. Vertices, regions and bodies are numbered from 0. `load` needs only NumPy. Body, Batch and Scene need
libsupple.so.0 of an installed Supple, or the one that the environment variable SUPPLE_LIBRARY names. The motions are
those of the programs simulate and simscene, and a wrong file has the same message as there.

A body or scene is used by one thread at a time. Different ones may be used by different threads at the same time:
steps run without the lock of the interpreter.
"""
from ._library import Error, Status
from .batch import Batch
from .body import Body
from .datasets import Dataset, export_dataset
from .files import File, load
from .reducing import Reduced, reduce
from .scene import Scene

__version__ = '0.1.0'
__all__ = ['Batch', 'Body', 'Dataset', 'Error', 'File', 'Reduced', 'Scene', 'Status', 'export_dataset', 'load',
           'reduce']

for _public in (Batch, Body, Dataset, Error, File, Reduced, Scene, Status, export_dataset, load, reduce):
    _public.__module__ = __name__  # their names in messages
