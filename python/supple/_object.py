"""What bodies and scenes have in common: an object of the library, which is freed when nothing uses it any more."""
from __future__ import annotations

import ctypes
from typing import Any, Optional, Tuple, TypeVar

import numpy as np

from . import _arguments
from ._library import Error, Handle, Status

_Self = TypeVar('_Self', bound='Object')


class Object:
    """A body or a scene."""

    _handle: Handle
    _library: ctypes.CDLL

    def close(self) -> None:
        """Frees the memory of the library, as far as no array shares it. Every other call raises Error from then on.
        Nothing happens if it is closed already."""
        self.__dict__.clear()

    def __getattr__(self, name: str) -> Any:
        """Called for attributes that are not there: those of a closed object."""
        if name in ('_handle', '_library'):
            raise Error(Status.USAGE, f'the {type(self).__name__.lower()} is closed')
        raise AttributeError(f'{type(self).__name__!r} object has no attribute {name!r}')

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __copy__(self) -> None:
        raise TypeError(f'a {type(self).__name__.lower()} cannot be copied')

    def __reduce__(self) -> Any:
        raise TypeError(f'a {type(self).__name__.lower()} cannot be copied or pickled: save() its state')

    def _step(self, function: Any, count: int) -> None:
        count = _arguments.integer('count', count, 0)
        handle = self._handle
        for _ in range(count):
            function(handle)

    def _save(self, function: Any) -> bytes:
        size = ctypes.c_size_t()
        function(self._handle, None, size)
        state = ctypes.create_string_buffer(size.value)
        function(self._handle, state, size)
        return state.raw

    def _load(self, function: Any, state: Any) -> None:
        try:
            state = bytes(memoryview(state))
        except TypeError:
            raise TypeError(f'state: expected bytes, not {type(state).__name__}') from None
        function(self._handle, state, len(state))

    def _at_vertices(self, functions: dict[Any, Any], first: Tuple[Any, ...], there: int, vertices: Any, out: Any,
                     dtype: Any) -> np.ndarray:
        """Vectors at vertices, by one of the functions, which are there by the type of their results."""
        numbers: Optional[np.ndarray] = None
        if vertices is not None:
            numbers = _arguments.integers('vertices', vertices)
        shape = (there,) if numbers is None else numbers.shape
        out = _arguments.result(out, (*shape, 3), dtype, tuple(functions))
        function = functions[out.dtype.type]
        function(self._handle, *first, out.size // 3, _arguments.address(numbers), _arguments.address(out))
        return out
