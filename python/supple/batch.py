"""Many motions of one body at once (include/supple/batch.h)."""
from __future__ import annotations

from typing import Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _arguments, _library
from ._object import Object
from .body import Body, Scheme, integration


class Batch(Object):
    """Many motions of one body with polynomials, step by step: for learning loops, optimizers and studies.

        with supple.Body('spoon.npz', 'basis.npz', 'poly.npz') as body:
            batch = supple.Batch(body, 1000, threads=2)
            batch.start(step=0.003)
            batch.push([body.nearest([2.5, 0, 0])], forces)   # [1000, 1, 3] N
            batch.step(100)
            batch.q                                           # [1000, r]

    The motions have the materials, the damping and the gravity of the body, which must keep these. They are integrated
    24 at a time in the lanes of a core. Each is the motion of Body.step under the same forces, up to rounding, and its
    bytes do not depend on the others nor on the number of threads. Contact between motions, springs and files of loads
    have no part in it.
    """

    def __init__(self, body: Body, count: int, threads: int = 1) -> None:
        if not isinstance(body, Body):
            raise TypeError(f'body: expected a Body, not {type(body).__name__}')
        library, handle = _library.library(), _library.BatchHandle()
        library.supple_batch_open(body._handle, _arguments.integer('count', count),
                                  _arguments.integer('threads', threads, -2**31, 2**31 - 1), handle)
        handle.body = body._handle
        self._library = library
        self._handle = handle
        self._shape = (library.supple_batch_motions(handle), body.r)

    def __repr__(self) -> str:
        if '_handle' not in self.__dict__:
            return '<supple.Batch: closed>'
        return f'<supple.Batch: {self._shape[0]} motions of {self._shape[1]} coordinates, time {self.time:g} s>'

    @property
    def count(self) -> int:
        """The number of motions."""
        return self._library.supple_batch_motions(self._handle)

    def start(self, step: float = 0.01, scheme: Scheme = 'newmark', *, semi_implicit: bool = False,
              damping: Optional[Tuple[float, float]] = None, q: Optional[ArrayLike] = None,
              qdot: Optional[ArrayLike] = None, beta: Optional[float] = None, gamma: Optional[float] = None,
              tolerance: Optional[float] = None, iterations: Optional[int] = None) -> None:
        """Starts all motions at time 0 from the coordinates `q` and rates `qdot` [count, r] (None: 0), under the
        present forces. It may be called again. The arguments are those of Body.start, with the schemes "newmark",
        "euler" and "bdf2"."""
        how = integration(self._library, step, scheme, semi_implicit=semi_implicit, damping=damping, beta=beta,
                          gamma=gamma, tolerance=tolerance, iterations=iterations)
        q = None if q is None else _arguments.reals('q', q, *self._shape)
        qdot = None if qdot is None else _arguments.reals('qdot', qdot, *self._shape)
        self._library.supple_batch_start(self._handle, how, _arguments.address(q), _arguments.address(qdot))

    def step(self, count: int = 1) -> None:
        """Takes steps of all motions. A motion that fails stays as it was before the step that failed, and does not
        stop the others: `failures` tells which."""
        self._library.supple_batch_step(self._handle, _arguments.integer('count', count, 0))

    def push(self, vertices: ArrayLike, forces: ArrayLike) -> None:
        """Sets `forces` to those [count, vertices, 3] in N on these vertices of the mesh, the same in every motion."""
        numbers = _arguments.integer_list('vertices', vertices)
        values = _arguments.reals('forces', forces, self._shape[0], len(numbers), 3)
        self._library.supple_batch_push(self._handle, len(numbers), _arguments.address(numbers),
                                        _arguments.address(values))

    @property
    def forces(self) -> NDArray[np.float64]:
        """The generalized forces Uᵀ F [count, r], to be written: they act from the present time on. Memory of the
        library."""
        return _arguments.view(self._handle, self._library.supple_batch_forces(self._handle), self._shape,
                               writeable=True)

    @property
    def time(self) -> float:
        """The time in s of the motions that did not fail."""
        return self._library.supple_batch_time(self._handle)

    @property
    def q(self) -> NDArray[np.float64]:
        """The coordinates [count, r]. Memory of the library, read-only, which every step changes."""
        return _arguments.view(self._handle, self._library.supple_batch_q(self._handle), self._shape)

    @property
    def qdot(self) -> NDArray[np.float64]:
        """Their rates [count, r]. Memory of the library, read-only, which every step changes."""
        return _arguments.view(self._handle, self._library.supple_batch_qdot(self._handle), self._shape)

    @property
    def failures(self) -> NDArray[np.int32]:
        """0 for each motion [count], or the Status of its failure. Memory of the library, read-only."""
        return _arguments.view(self._handle, self._library.supple_batch_failures(self._handle), self._shape[:1],
                               np.int32)
