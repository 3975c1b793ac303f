"""libsupple by ctypes: where it is, its structures and functions (include/supple/*.h), and its errors."""
from __future__ import annotations

import ctypes
import enum
import functools
import os
import pathlib
import sysconfig
from ctypes import POINTER, Structure, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any, ClassVar

import numpy as np

SONAME = 'libsupple.so.0'


class Status(enum.IntEnum):
    """What kind of failure an Error is. The values are the exit codes of the programs."""
    USAGE = 2
    """The call is wrong: an argument out of range, or a call in the wrong order."""
    INPUT = 3
    """A file is unusable."""
    SYSTEM = 4
    """Out of memory, or a file cannot be read, or there is no libsupple."""
    NUMERICAL = 5
    """A step did not converge, a matrix is singular, a motion became unstable."""


class Error(Exception):
    """A call of libsupple that failed. Its text is the message of the library."""

    status: Status
    """The kind of failure."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(status, text)
        self.status = Status(status)

    def __str__(self) -> str:
        return self.args[1]


# ---- objects and structures ----

class Handle(c_void_p):
    """A pointer to an object of the library, which is freed with it. Arrays that share memory of the object refer to
    its handle, and a call that is under way does too: nothing is freed that is still used."""
    free: ClassVar[Any] = None

    def __del__(self) -> None:
        if self:
            self.free(self)


class BodyHandle(Handle):
    pass


class BatchHandle(Handle):
    body: Handle
    """The body outlives its batches."""


class SceneHandle(Handle):
    pass


class BodyFiles(Structure):
    _fields_ = [('mesh', c_char_p), ('basis', c_char_p), ('polynomials', c_char_p), ('cubature', c_char_p),
                ('r', c_int64)]


class Integration(Structure):
    _fields_ = [('scheme', c_int), ('step', c_double), ('beta', c_double), ('gamma', c_double),
                ('damping_mass', c_double), ('damping_stiffness', c_double), ('semi_implicit', c_bool),
                ('tolerance', c_double), ('iterations', c_int64)]


class SceneOptions(Structure):
    _fields_ = [('step', c_double), ('threads', c_int), ('energy', c_bool), ('semi_implicit', c_bool),
                ('beta', c_double), ('gamma', c_double), ('tolerance', c_double), ('iterations', c_int64)]


class Energies(Structure):
    _fields_ = [('kinetic', c_double), ('stored', c_double), ('work', c_double), ('dissipated', c_double)]


class StepReport(Structure):
    _fields_ = [('steps', c_int64), ('newton_iterations', c_int64), ('factorizations', c_int64),
                ('worst_residual', c_double)]


class Pose(Structure):
    _fields_ = [('position', c_double * 3), ('rotation', c_double * 4)]


class SceneEnergy(Structure):
    _fields_ = [('kinetic', c_double), ('strain', c_double), ('gravity', c_double)]


class ContactReport(Structure):
    _fields_ = [('visited', c_int64), ('points', c_int64), ('deepest_level', c_int64), ('complete', c_bool),
                ('lowest', c_double), ('stiffness', c_double)]


# Structures that come in arrays
SPRING = np.dtype([('vertex', np.int64), ('anchor', np.float64, 3), ('stiffness', np.float64)], align=True)
POINT_FORCE = np.dtype([('body', np.int64), ('vertex', np.int64), ('force', np.float64, 3)], align=True)
CONTACT = np.dtype([('body', np.int32), ('other', np.int32), ('point', np.int32), ('position', np.float64, 3),
                    ('force', np.float64, 3)], align=True)


# ---- functions ----

class _Status(c_int):
    """The result of a function that can fail; never created."""


_ARRAY = c_void_p  # the address of the numbers of a NumPy array, or None
_BODY, _BATCH, _SCENE = BodyHandle, BatchHandle, SceneHandle
# The type of the result, and those of the arguments
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    'supple_version': (c_char_p,),
    'supple_error': (c_char_p,),
    'supple_body_open': (_Status, POINTER(BodyFiles), POINTER(_BODY)),
    'supple_body_close': (None, _BODY),
    'supple_body_coordinates': (c_int64, _BODY),
    'supple_body_vertices': (c_int64, _BODY),
    'supple_body_surface_vertices': (c_int64, _BODY),
    'supple_body_surface_triangles': (c_int64, _BODY),
    'supple_body_rest': (c_void_p, _BODY),
    'supple_body_surface_rest': (c_void_p, _BODY),
    'supple_body_surface': (c_void_p, _BODY),
    'supple_body_basis': (c_void_p, _BODY),
    'supple_body_nearest': (_Status, _BODY, _ARRAY, POINTER(c_int64)),
    'supple_integration_default': (Integration,),
    'supple_body_start': (_Status, _BODY, POINTER(Integration), _ARRAY, _ARRAY),
    'supple_body_step': (_Status, _BODY),
    'supple_body_set_force': (_Status, _BODY, c_int64, _ARRAY),
    'supple_body_set_forces': (_Status, _BODY, c_int64, _ARRAY, _ARRAY),
    'supple_body_set_generalized_force': (_Status, _BODY, _ARRAY),
    'supple_body_set_springs': (_Status, _BODY, c_int64, _ARRAY),
    'supple_body_set_gravity': (_Status, _BODY, _ARRAY),
    'supple_body_load_file': (_Status, _BODY, c_char_p),
    'supple_body_set_material': (_Status, _BODY, c_char_p, c_double, c_double, c_double),
    'supple_body_time': (c_double, _BODY),
    'supple_body_q': (c_void_p, _BODY),
    'supple_body_qdot': (c_void_p, _BODY),
    'supple_body_displacements': (_Status, _BODY, c_int64, _ARRAY, _ARRAY),
    'supple_body_displacements_float': (_Status, _BODY, c_int64, _ARRAY, _ARRAY),
    'supple_body_velocities': (_Status, _BODY, c_int64, _ARRAY, _ARRAY),
    'supple_body_surface_displacements': (_Status, _BODY, c_int64, _ARRAY, _ARRAY),
    'supple_body_energies': (_Status, _BODY, POINTER(Energies)),
    'supple_body_report': (_Status, _BODY, POINTER(StepReport)),
    'supple_body_warnings': (_Status, _BODY, c_char_p, POINTER(c_size_t)),
    'supple_body_evaluate': (_Status, _BODY, _ARRAY, _ARRAY, _ARRAY, POINTER(c_double)),
    'supple_body_mass': (_Status, _BODY, _ARRAY),
    'supple_body_save': (_Status, _BODY, c_char_p, POINTER(c_size_t)),
    'supple_body_load': (_Status, _BODY, c_char_p, c_size_t),
    'supple_batch_open': (_Status, _BODY, c_int64, c_int, POINTER(_BATCH)),
    'supple_batch_close': (None, _BATCH),
    'supple_batch_motions': (c_int64, _BATCH),
    'supple_batch_start': (_Status, _BATCH, POINTER(Integration), _ARRAY, _ARRAY),
    'supple_batch_forces': (c_void_p, _BATCH),
    'supple_batch_push': (_Status, _BATCH, c_int64, _ARRAY, _ARRAY),
    'supple_batch_step': (_Status, _BATCH, c_int64),
    'supple_batch_time': (c_double, _BATCH),
    'supple_batch_q': (c_void_p, _BATCH),
    'supple_batch_qdot': (c_void_p, _BATCH),
    'supple_batch_failures': (c_void_p, _BATCH),
    'supple_scene_options_default': (SceneOptions,),
    'supple_scene_open': (_Status, c_char_p, POINTER(SceneOptions), POINTER(_SCENE)),
    'supple_scene_close': (None, _SCENE),
    'supple_scene_step': (_Status, _SCENE),
    'supple_scene_time': (c_double, _SCENE),
    'supple_scene_bodies': (c_int64, _SCENE),
    'supple_scene_body_name': (c_char_p, _SCENE, c_int64),
    'supple_scene_find': (_Status, _SCENE, c_char_p, POINTER(c_int64)),
    'supple_scene_coordinates': (c_int64, _SCENE, c_int64),
    'supple_scene_vertices': (c_int64, _SCENE, c_int64),
    'supple_scene_state': (_Status, _SCENE, c_int64, POINTER(Pose), _ARRAY, _ARRAY, _ARRAY),
    'supple_scene_positions': (_Status, _SCENE, c_int64, c_int64, _ARRAY, _ARRAY),
    'supple_scene_positions_float': (_Status, _SCENE, c_int64, c_int64, _ARRAY, _ARRAY),
    'supple_scene_set_gravity': (_Status, _SCENE, _ARRAY),
    'supple_scene_set_forces': (_Status, _SCENE, c_int64, _ARRAY),
    'supple_scene_move_hand': (_Status, _SCENE, POINTER(Pose), _ARRAY),
    'supple_scene_clutch': (_Status, _SCENE, c_bool),
    'supple_scene_move_body': (_Status, _SCENE, c_int64, POINTER(Pose), _ARRAY),
    'supple_scene_hand': (_Status, _SCENE, POINTER(Pose), _ARRAY, _ARRAY),
    'supple_scene_contact_force': (_Status, _SCENE, c_int64, _ARRAY),
    'supple_scene_contacts': (_Status, _SCENE, c_int64, _ARRAY, POINTER(c_int64)),
    'supple_scene_energies': (_Status, _SCENE, POINTER(SceneEnergy)),
    'supple_scene_report': (_Status, _SCENE, POINTER(ContactReport)),
    'supple_scene_warnings': (_Status, _SCENE, c_char_p, POINTER(c_size_t)),
    'supple_scene_save': (_Status, _SCENE, c_char_p, POINTER(c_size_t)),
    'supple_scene_load': (_Status, _SCENE, c_char_p, c_size_t),
}


def _declare(library: ctypes.CDLL) -> None:
    def check(status: int, _function: Any, _arguments: Any) -> int:
        if status:
            raise Error(status, library.supple_error().decode(errors='replace'))
        return status

    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.argtypes = arguments
        if result is _Status:
            function.restype, function.errcheck = c_int, check
        else:
            function.restype = result


# ---- the shared object ----

def _path() -> str:
    """The file that SUPPLE_LIBRARY names, or the one beside the installed package, or what the system finds."""
    given = os.environ.get('SUPPLE_LIBRARY')
    if given:
        return given
    here = pathlib.Path(__file__).resolve()
    if len(here.parents) > 3:  # PREFIX/lib/python3/dist-packages/supple/_library.py
        lib = here.parents[3]
        for folder in (lib, lib / str(sysconfig.get_config_var('MULTIARCH')), lib.parent / 'lib64'):
            if (folder / SONAME).exists():
                return str(folder / SONAME)
    return SONAME


def _check_version(library: ctypes.CDLL, path: str) -> None:
    """The version must be one that has all functions of this package's version, with the same structures."""
    from . import __version__
    library.supple_version.restype = c_char_p
    found = library.supple_version().decode()
    wanted, has = ([int(number) for number in version.split('.')[:2]] for version in (__version__, found))
    if has[0] != wanted[0] or has[1] < wanted[1]:
        raise Error(Status.SYSTEM, f'{path} is version {found}, and this package is for version {__version__}')


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library with its functions declared. Raises Error where there is none, or one that does not fit."""
    path = _path()
    try:
        library = ctypes.CDLL(path)
        _check_version(library, path)
        _declare(library)
    except (OSError, AttributeError) as error:
        raise Error(Status.SYSTEM, f'{path}: {error}. Install Supple, or let the environment variable SUPPLE_LIBRARY '
                                   f'name the file {SONAME}') from None
    BodyHandle.free = library.supple_body_close
    BatchHandle.free = library.supple_batch_close
    SceneHandle.free = library.supple_scene_close
    return library
