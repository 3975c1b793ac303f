"""Arguments of Python for the library: each is checked, and a wrong one is named."""
from __future__ import annotations

import ctypes
import operator
import os
from typing import Any, Optional, Tuple

import numpy as np

_INT64 = np.iinfo(np.int64)


def real(name: str, value: Any) -> float:
    """A number."""
    if isinstance(value, (str, bytes, bytearray, bool)):
        raise TypeError(f'{name}: expected a number, not {value!r}')
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f'{name}: expected a number, not {type(value).__name__}') from None


def integer(name: str, value: Any, low: int = _INT64.min, high: int = _INT64.max) -> int:
    """An integer in a range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'{name}: expected an integer, not {type(value).__name__}') from None
    if not low <= number <= high:
        raise ValueError(f'{name}: {number} is out of range')
    return number


def text(name: str, value: Any) -> bytes:
    """A name."""
    if not isinstance(value, str):
        raise TypeError(f'{name}: expected a text, not {type(value).__name__}')
    return _without_null(name, value.encode())


def path(name: str, value: Any) -> bytes:
    """The path of a file."""
    try:
        encoded = os.fsencode(value)
    except TypeError:
        raise TypeError(f'{name}: expected a path, not {type(value).__name__}') from None
    return _without_null(name, encoded)


def _without_null(name: str, value: bytes) -> bytes:
    if b'\0' in value:
        raise ValueError(f'{name}: it contains a null byte')
    return value


def reals(name: str, value: Any, *shape: Optional[int]) -> np.ndarray:
    """Numbers of this shape, side by side in memory. None is any count, and [] may be written for a count of 0."""
    array = _array(name, value, 'fiu', 'numbers')
    if array.size == 0 and shape and shape[0] in (None, 0):
        array = array.reshape(0, *shape[1:])
    if array.ndim != len(shape) or any(wanted not in (None, found) for wanted, found in zip(shape, array.shape)):
        expected = ', '.join('count' if wanted is None else str(wanted) for wanted in shape)
        raise ValueError(f'{name}: expected the shape [{expected}], not {list(array.shape)}')
    return np.ascontiguousarray(array, np.float64)


def integers(name: str, value: Any) -> np.ndarray:
    """Integers of any shape, side by side in memory."""
    array = _array(name, value, 'iu', 'integers')
    if array.dtype.kind == 'u' and array.size and array.max() > _INT64.max:
        raise ValueError(f'{name}: {array.max()} is out of range')
    return np.ascontiguousarray(array, np.int64).reshape(array.shape)  # ascontiguousarray makes a number an array


def integer_list(name: str, value: Any, count: Optional[int] = None) -> np.ndarray:
    """A list of so many integers; None: of any number."""
    array = integers(name, value)
    if array.ndim != 1 or count not in (None, len(array)):
        raise ValueError(f'{name}: expected the shape [{"count" if count is None else count}], not {list(array.shape)}')
    return array


def _array(name: str, value: Any, kinds: str, what: str) -> np.ndarray:
    if np.ma.is_masked(value):
        raise ValueError(f'{name}: some of its values are masked; fill them first')
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f'{name}: {error}') from None
    if array.size == 0 and array.dtype == np.float64:  # of an empty list
        return array.astype(np.int64) if kinds == 'iu' else array
    if array.dtype.kind not in kinds:
        raise TypeError(f'{name}: expected {what}, not {array.dtype}')
    return array


def result(out: Any, shape: Tuple[int, ...], dtype: Any, allowed: Tuple[Any, ...]) -> np.ndarray:
    """The array for results: `out`, or a new one of the type `dtype`, by default the first one that is allowed."""
    wanted = np.dtype(dtype if dtype is not None else allowed[0])
    if wanted not in allowed:
        raise TypeError(f'dtype: expected {_names(allowed)}, not {wanted}')
    if out is None:
        return np.empty(shape, wanted)
    if not isinstance(out, np.ndarray):
        raise TypeError(f'out: expected an array, not {type(out).__name__}')
    if out.dtype not in allowed or (dtype is not None and out.dtype != wanted):
        raise TypeError(f'out: expected {_names(allowed) if dtype is None else wanted}, not {out.dtype}')
    if out.shape != shape:
        raise ValueError(f'out: expected the shape {list(shape)}, not {list(out.shape)}')
    if not out.flags.carray:
        raise ValueError('out: it must be writeable, aligned, and in C order')
    return out


def _names(types: Tuple[Any, ...]) -> str:
    return ' or '.join(str(np.dtype(t)) for t in types)


def address(array: Optional[np.ndarray]) -> Optional[int]:
    """Where the numbers of an array are; None for None."""
    return None if array is None else array.ctypes.data


def view(handle: ctypes.c_void_p, pointer: Optional[int], shape: Tuple[int, ...], dtype: Any = np.float64,
         order: Any = 'C', writeable: bool = False) -> np.ndarray:
    """An array over memory of the object behind `handle`, which lives as long as the array; by default read-only."""
    if not pointer or 0 in shape:
        memory: Any = b''
    else:
        memory = (ctypes.c_char * (int(np.prod(shape)) * np.dtype(dtype).itemsize)).from_address(pointer)
        memory.handle = handle
    memory = memoryview(memory)
    return np.frombuffer(memory if writeable else memory.toreadonly(), dtype).reshape(shape, order=order)
