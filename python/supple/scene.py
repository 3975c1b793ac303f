"""Scenes of bodies in contact (include/supple/scene.h)."""
from __future__ import annotations

import ctypes
from typing import Any, Literal, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _arguments, _library
from ._object import Object
from .body import Path

BodyName = Union[int, str]
"""A body of a scene: its number, or its name."""
Integrator = Literal['newmark', 'energy']


class BodyState(NamedTuple):
    """Where a body is. A point X of its model is at position + R(rotation) X in the world."""
    position: NDArray[np.float64]
    """[3] m"""
    rotation: NDArray[np.float64]
    """Unit quaternion w, x, y, z, body to world."""
    twist: NDArray[np.float64]
    """Velocity [3] in m/s of the origin of its frame, and angular velocity [3] in rad/s, in the world."""
    q: NDArray[np.float64]
    """Coordinates; [0] for a rigid body."""
    qdot: NDArray[np.float64]
    """Rates of the coordinates."""


class Hand(NamedTuple):
    """The manipulandum in the last step."""
    position: NDArray[np.float64]
    """[3] m"""
    rotation: NDArray[np.float64]
    """Unit quaternion w, x, y, z."""
    coupling: NDArray[np.float64]
    """Force [3] in N and torque [3] in N m of the coupling on the body."""
    device: NDArray[np.float64]
    """Force and torque to be rendered by the device."""


class SceneEnergies(NamedTuple):
    """Energies in J of all bodies that forces move. Heights are from the world's origin."""
    kinetic: float
    strain: float
    gravity: float


class ContactReport(NamedTuple):
    """What the contacts of the last step took."""
    visited: int
    """Nodes of point shells."""
    points: int
    """Points that penetrate."""
    deepest_level: int
    """Of point shells."""
    complete: bool
    """No traversal was cut short by its budget."""
    lowest: float
    """The least evaluated distance in m; infinite if no pair is near."""
    stiffness: float
    """h² times the largest eigenvalue of contact over all steps: the step is too long from 4 on."""


class Scene(Object):
    """A scene of rigid and reduced-order bodies in contact, with a virtual coupling to a haptic device
    (formats/scene.md).

        with supple.Scene('scene.json', step=0.001) as scene:
            while True:
                scene.move_hand(*pose_of_the_device())
                scene.step()
                render(scene.hand().device)

    Bodies are numbered from 0 in the order of the scene, copies included; wherever a body is wanted, its name will do.
    The same scene and options give the motion that the program simscene writes. Failures raise supple.Error.

    step: h in s.
    threads: that a step may use; the motion is the same for any number.
    integrator: of the deformation of bodies that are not free: "newmark", or "energy", which conserves energy exactly.
    semi_implicit: one Newton iteration in each step.
    beta, gamma: of Newmark's method (None: ¼ and ½).
    tolerance, iterations: of Newton's method (None: 1e-10, for "energy" 1e-12, and 50).
    """

    def __init__(self, path: Path, step: float = 0.01, *, threads: int = 1, integrator: Integrator = 'newmark',
                 semi_implicit: bool = False, beta: Optional[float] = None, gamma: Optional[float] = None,
                 tolerance: Optional[float] = None, iterations: Optional[int] = None) -> None:
        encoded = _arguments.path('path', path)
        library, handle = _library.library(), _library.SceneHandle()
        how = library.supple_scene_options_default()
        how.step = _arguments.real('step', step)
        how.threads = _arguments.integer('threads', threads, 1, 4096)
        if integrator not in ('newmark', 'energy'):
            raise ValueError(f'integrator: {integrator!r} is none of newmark, energy')
        how.energy = integrator == 'energy'
        how.semi_implicit = bool(semi_implicit)
        if semi_implicit and (tolerance is not None or iterations is not None):
            raise ValueError('tolerance, iterations: semi-implicit steps have one iteration')
        for name, value in (('beta', beta), ('gamma', gamma), ('tolerance', tolerance)):
            if value is not None:
                setattr(how, name, _arguments.real(name, value))
        if iterations is not None:
            how.iterations = _arguments.integer('iterations', iterations, 1)
        library.supple_scene_open(encoded, how, handle)
        self._library = library
        self._handle = handle
        self._names = tuple(library.supple_scene_body_name(handle, body).decode()
                            for body in range(library.supple_scene_bodies(handle)))

    def __repr__(self) -> str:
        if '_handle' not in self.__dict__:
            return '<supple.Scene: closed>'
        return f'<supple.Scene: {len(self._names)} bodies, time {self.time:g} s>'

    def step(self, count: int = 1) -> None:
        """Takes steps. After a failure the scene cannot go on; load brings it back to a saved state."""
        self._step(self._library.supple_scene_step, count)

    @property
    def time(self) -> float:
        """The time in s."""
        return self._library.supple_scene_time(self._handle)

    # ---- bodies ----

    @property
    def bodies(self) -> Tuple[str, ...]:
        """The names of the bodies, by number."""
        self._handle  # refuses a closed scene
        return self._names

    def coordinates(self, body: BodyName) -> int:
        """The number of reduced coordinates of a body; 0: rigid."""
        return self._library.supple_scene_coordinates(self._handle, self._number(body))

    def vertex_count(self, body: BodyName) -> int:
        """The number of vertices of the mesh of a body; 0: it has none."""
        return self._library.supple_scene_vertices(self._handle, self._number(body))

    def state(self, body: BodyName) -> BodyState:
        """Where a body is, and how it moves: copies."""
        number = self._number(body)
        r = self._library.supple_scene_coordinates(self._handle, number)
        pose, twist, q, qdot = _library.Pose(), np.empty(6), np.empty(r), np.empty(r)
        self._library.supple_scene_state(self._handle, number, pose, *map(_arguments.address, (twist, q, qdot)))
        return BodyState(np.array(pose.position), np.array(pose.rotation), twist, q, qdot)

    def positions(self, body: BodyName, vertices: Optional[ArrayLike] = None, out: Optional[np.ndarray] = None,
                  dtype: Optional[DTypeLike] = None) -> np.ndarray:
        """Positions [..., 3] in m in the world of vertices [...] of the mesh of a body (None: of all). A single number
        gives [3]. They are written to `out` if it is given. `dtype` is float64, or float32 for single precision."""
        number, library = self._number(body), self._library
        functions = {np.float64: library.supple_scene_positions, np.float32: library.supple_scene_positions_float}
        there = library.supple_scene_vertices(self._handle, number)
        return self._at_vertices(functions, (number,), there, vertices, out, dtype)

    def _number(self, body: Any) -> int:
        """The number of a body, which is in range."""
        if isinstance(body, str):
            number = ctypes.c_int64()
            self._library.supple_scene_find(self._handle, _arguments.text('body', body), number)
            return number.value
        return _arguments.integer('body', body, 0, len(self.bodies) - 1)

    # ---- what acts, from the next step on ----

    def set_gravity(self, gravity: ArrayLike) -> None:
        """The acceleration of gravity [3] in m/s²."""
        gravity = _arguments.reals('gravity', gravity, 3)
        self._library.supple_scene_set_gravity(self._handle, _arguments.address(gravity))

    def set_forces(self, bodies: Union[BodyName, Sequence[BodyName]], vertices: Optional[ArrayLike],
                   forces: ArrayLike) -> None:
        """Forces [count, 3] in N, in the world, on vertices [count] of the meshes of bodies, in place of all that were
        set before; [], None and []: none. One body is that of all forces. vertices None: on the origins of the frames
        of the bodies, which every body has. A rigid body that is not free is refused."""
        forces = _arguments.reals('forces', forces, None, 3)
        acting = np.zeros(len(forces), _library.POINT_FORCE)
        acting['force'] = forces
        acting['body'] = self._numbers(bodies, len(forces))
        acting['vertex'] = -1
        if vertices is not None:
            numbers = _arguments.integer_list('vertices', vertices, len(forces))
            if len(numbers) and numbers.min() < 0:
                raise ValueError(f'vertices: {numbers.min()} is out of range')
            acting['vertex'] = numbers
        self._library.supple_scene_set_forces(self._handle, len(acting), _arguments.address(acting))

    def _numbers(self, bodies: Any, count: int) -> Any:
        if isinstance(bodies, (str, int, np.integer)):
            return self._number(bodies)
        if not np.iterable(bodies):
            raise TypeError(f'bodies: expected a number, a name, or a list of them, not {type(bodies).__name__}')
        numbers = [self._number(body) for body in bodies]
        if len(numbers) != count:
            raise ValueError(f'bodies: {len(numbers)} for {count} forces')
        return numbers

    def move_hand(self, position: ArrayLike, rotation: ArrayLike = (1, 0, 0, 0),
                  twist: Optional[ArrayLike] = None) -> None:
        """Where the manipulandum is: position [3] and quaternion [4] w, x, y, z, which take the place of the path in
        the scene. twist [6]: its velocity and angular velocity, with which it moves on until the next call; None: it
        rests. Lengths are those of the scene."""
        pose, velocity = _pose(position, rotation, twist)
        self._library.supple_scene_move_hand(self._handle, pose, _arguments.address(velocity))

    def clutch(self, held: bool) -> None:
        """Holds or releases the clutch of the device. While it is held, the poses of move_hand, or the path, move the
        device and not the manipulandum, which stays where it is. After the release the manipulandum continues from
        there, with the motion of the device in the world."""
        self._library.supple_scene_clutch(self._handle, bool(held))

    def move_body(self, body: BodyName, position: ArrayLike, rotation: ArrayLike = (1, 0, 0, 0),
                  twist: Optional[ArrayLike] = None) -> None:
        """The same as move_hand for a body whose motion is "path"."""
        pose, velocity = _pose(position, rotation, twist)
        self._library.supple_scene_move_body(self._handle, self._number(body), pose, _arguments.address(velocity))

    # ---- what the last step did ----

    def hand(self) -> Hand:
        """The pose of the manipulandum, and the forces of the coupling."""
        pose, coupling, device = _library.Pose(), np.empty(6), np.empty(6)
        self._library.supple_scene_hand(self._handle, pose, _arguments.address(coupling), _arguments.address(device))
        return Hand(np.array(pose.position), np.array(pose.rotation), coupling, device)

    def contact_force(self, body: BodyName) -> NDArray[np.float64]:
        """Force [3] in N and torque [3] in N m of all contacts on a body, in the world, about the origin of its
        frame."""
        wrench = np.empty(6)
        self._library.supple_scene_contact_force(self._handle, self._number(body), _arguments.address(wrench))
        return wrench

    def contacts(self) -> np.ndarray:
        """The penetrating points: a structured array with "body" and "other", the numbers of its body and the other
        one, "point", its number in its point shell, "position" [3] in m, and "force" [3] in N on its body, in the
        world."""
        count = ctypes.c_int64()
        self._library.supple_scene_contacts(self._handle, 0, None, count)
        contacts = np.zeros(count.value, _library.CONTACT)
        self._library.supple_scene_contacts(self._handle, len(contacts), _arguments.address(contacts), count)
        return contacts

    def energies(self) -> SceneEnergies:
        """Energies of all bodies that forces move."""
        energies = _library.SceneEnergy()
        self._library.supple_scene_energies(self._handle, energies)
        return SceneEnergies(*(getattr(energies, name) for name in SceneEnergies._fields))

    def report(self) -> ContactReport:
        """What the contacts of the last step took."""
        report = _library.ContactReport()
        self._library.supple_scene_report(self._handle, report)
        return ContactReport(*(getattr(report, name) for name in ContactReport._fields))

    def warnings(self) -> Tuple[str, ...]:
        """What is to be said of the steps so far, in sentences, as simscene does at its end: energy that nothing put
        in, contact that is too stiff for the step, bodies that sink or pass through each other, a coupling that does
        not come to rest, a frame that stops at once where its path ends."""
        return tuple(self._save(self._library.supple_scene_warnings).rstrip(b'\0').decode().splitlines())

    # ---- saving ----

    def save(self) -> bytes:
        """The state that the next steps depend on; forces, gravity and poses that were set are part of it. It is for
        this machine and this version of the library."""
        return self._save(self._library.supple_scene_save)

    def load(self, state: bytes) -> None:
        """Returns to a saved state of a scene that was opened from the same files with the same options. Other
        bytes are refused, and the scene is as it was."""
        self._load(self._library.supple_scene_load, state)


def _pose(position: Any, rotation: Any, twist: Any) -> Tuple[_library.Pose, Optional[np.ndarray]]:
    pose = _library.Pose()
    pose.position[:] = _arguments.reals('position', position, 3).tolist()
    pose.rotation[:] = _arguments.reals('rotation', rotation, 4).tolist()
    return pose, None if twist is None else _arguments.reals('twist', twist, 6)
