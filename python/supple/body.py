"""Reduced-order deformable bodies (include/supple/body.h)."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Literal, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _arguments, _library
from ._object import Object

Path = Union[str, os.PathLike[str]]
Scheme = Literal['newmark', 'energy', 'central', 'static', 'euler', 'bdf2', 'exact']

_SCHEMES = ('newmark', 'energy', 'central', 'static', 'euler', 'bdf2', 'exact')  # as in supple_scheme
_NEWTON = ('newmark', 'energy', 'static', 'euler', 'bdf2')


class Energies(NamedTuple):
    """Energies and work in J since the start: kinetic + stored is what it was at the start + work − dissipated."""
    kinetic: float
    stored: float
    work: float
    dissipated: float


class StepReport(NamedTuple):
    """What the steps since the start took."""
    steps: int
    newton_iterations: int
    factorizations: int
    worst_residual: float
    """Relative, over all steps."""


class Evaluation(NamedTuple):
    """The internal force [r], the stiffness [r, r] and the stored energy in J at some coordinates."""
    force: NDArray[np.float64]
    stiffness: NDArray[np.float64]
    energy: float


def integration(library: ctypes.CDLL, step: float, scheme: Scheme, *, semi_implicit: bool,
                damping: Optional[Tuple[float, float]], beta: Optional[float], gamma: Optional[float],
                tolerance: Optional[float], iterations: Optional[int]) -> _library.Integration:
    """The structure of the library for the arguments of Body.start and Batch.start."""
    how = library.supple_integration_default()
    if scheme not in _SCHEMES:
        raise ValueError(f'scheme: {scheme!r} is none of {", ".join(_SCHEMES)}')
    how.scheme = _SCHEMES.index(scheme)
    how.step = _arguments.real('step', step)
    how.semi_implicit = bool(semi_implicit)
    _refuse(scheme, ('newmark',), semi_implicit=semi_implicit or None, beta=beta, gamma=gamma)
    _refuse(scheme, _NEWTON, tolerance=tolerance, iterations=iterations)
    _refuse(scheme, tuple(s for s in _SCHEMES if s != 'static'), damping=damping)
    if semi_implicit and (tolerance is not None or iterations is not None):
        raise ValueError('tolerance, iterations: semi-implicit steps have one iteration')
    for name, value in (('beta', beta), ('gamma', gamma), ('tolerance', tolerance)):
        if value is not None:
            setattr(how, name, _arguments.real(name, value))
    if iterations is not None:
        how.iterations = _arguments.integer('iterations', iterations, 1)
    if damping is not None:
        how.damping_mass, how.damping_stiffness = _arguments.reals('damping', damping, 2)
        if min(how.damping_mass, how.damping_stiffness) < 0:
            raise ValueError(f'damping: {damping} has a negative number')
    return how


class Body(Object):
    """A reduced-order deformable body: it is opened from files of the programs, and moved step by step under loads.

        with supple.Body('spoon.npz', 'basis.npz', 'poly.npz') as body:
            tip = body.nearest([2.5, 0, 0])
            body.set_force(tip, [0, 0, 500])
            body.start(step=0.003)
            while body.time < 0.3:
                body.step()
                print(body.time, body.displacements(tip))

    The displacement of the mesh is u = U q, with the basis U and the reduced coordinates q, which obey

        UᵀMU q̈ + (α UᵀMU + β K(q)) q̇ + f(q) = Uᵀ F(t),     K = ∂f/∂q.

    With `polynomials`, internal forces are the cubic polynomials of polycoef; with `cubature`, the weighted elements of
    cubature; with neither, `basis` is a file of modes, and the body moves by mode superposition. `r` is the number of
    coordinates to use; 0: all.

    Loads are constant until they are set again, and act from the next step on. The same mesh, loads and integration
    give the coordinates that the program simulate writes. Failures raise supple.Error.
    """

    def __init__(self, mesh: Path, basis: Path, polynomials: Optional[Path] = None, cubature: Optional[Path] = None,
                 r: int = 0) -> None:
        files = _library.BodyFiles(_arguments.path('mesh', mesh), _arguments.path('basis', basis),
                                   None if polynomials is None else _arguments.path('polynomials', polynomials),
                                   None if cubature is None else _arguments.path('cubature', cubature),
                                   _arguments.integer('r', r))
        library, handle = _library.library(), _library.BodyHandle()
        library.supple_body_open(files, handle)
        self._library = library
        self._handle = handle

    def __repr__(self) -> str:
        if '_handle' not in self.__dict__:
            return '<supple.Body: closed>'
        return f'<supple.Body: {self.r} coordinates, {self.vertex_count} vertices, time {self.time:g} s>'

    # ---- sizes and arrays ----

    @property
    def r(self) -> int:
        """The number of reduced coordinates."""
        return self._library.supple_body_coordinates(self._handle)

    @property
    def vertex_count(self) -> int:
        """The number of vertices of the mesh."""
        return self._library.supple_body_vertices(self._handle)

    @property
    def rest(self) -> NDArray[np.float64]:
        """Rest positions [vertices, 3] in m of the mesh. Memory of the library, read-only."""
        return self._view('supple_body_rest', (self.vertex_count, 3))

    @property
    def surface_rest(self) -> NDArray[np.float64]:
        """Rest positions [vertices of the surface, 3] of the embedded surface, if there is one. Memory of the library,
        read-only."""
        return self._view('supple_body_surface_rest', (self._library.supple_body_surface_vertices(self._handle), 3))

    @property
    def surface(self) -> NDArray[np.int64]:
        """The triangles [triangles, 3] of the embedded surface, by vertices of it. Memory of the library,
        read-only."""
        count = self._library.supple_body_surface_triangles(self._handle)
        return self._view('supple_body_surface', (count, 3), np.int64)

    @property
    def basis(self) -> NDArray[np.float64]:
        """The basis U [3·vertices, r]. Memory of the library, read-only."""
        return self._view('supple_body_basis', (3 * self.vertex_count, self.r), order='F')

    def nearest(self, point: ArrayLike) -> int:
        """The vertex of the mesh that is nearest to a point [3] at rest; the smallest number where several are."""
        point, vertex = _arguments.reals('point', point, 3), ctypes.c_int64()
        self._library.supple_body_nearest(self._handle, _arguments.address(point), vertex)
        return vertex.value

    def _view(self, function: str, shape: Tuple[int, ...], dtype: Any = np.float64, order: str = 'C') -> np.ndarray:
        return _arguments.view(self._handle, getattr(self._library, function)(self._handle), shape, dtype, order)

    # ---- integration ----

    def start(self, step: float = 0.01, scheme: Scheme = 'newmark', *, semi_implicit: bool = False,
              damping: Optional[Tuple[float, float]] = None, q: Optional[ArrayLike] = None,
              qdot: Optional[ArrayLike] = None, beta: Optional[float] = None, gamma: Optional[float] = None,
              tolerance: Optional[float] = None, iterations: Optional[int] = None) -> None:
        """Starts a motion at time 0 from the coordinates `q` and rates `qdot` [r] (None: 0). It may be called again to
        start another. Loads that were set stay.

        step: h in s.
        scheme: "newmark", implicit; "energy", implicit, conserves energy exactly, for polynomials and modes;
            "central", explicit central differences, which refuses steps above the stability limit; "static", the
            equilibrium under the loads of each step; "euler", implicit Euler; "bdf2", backward differences of second
            order; "exact", each mode exactly, for bodies by mode superposition.
        semi_implicit: "newmark": one Newton iteration in each step.
        damping: Rayleigh α in 1/s and β in s (None: those of the mesh).
        beta, gamma: "newmark" (None: ¼ and ½).
        tolerance: Newton's method: residual relative to the largest force term (None: 1e-10, "energy" 1e-12).
        iterations: Newton's method: at most, in each step (None: 50).
        """
        how = integration(self._library, step, scheme, semi_implicit=semi_implicit, damping=damping, beta=beta,
                          gamma=gamma, tolerance=tolerance, iterations=iterations)
        q = None if q is None else _arguments.reals('q', q, self.r)
        qdot = None if qdot is None else _arguments.reals('qdot', qdot, self.r)
        self._library.supple_body_start(self._handle, how, _arguments.address(q), _arguments.address(qdot))

    def step(self, count: int = 1) -> None:
        """Takes steps. After a failure the body is in the state before the step that failed."""
        self._step(self._library.supple_body_step, count)

    # ---- loads ----

    def set_force(self, vertex: int, force: ArrayLike) -> None:
        """A force [3] in N on a vertex of the mesh, in place of all forces on vertices that were set before."""
        vertex, force = _arguments.integer('vertex', vertex), _arguments.reals('force', force, 3)
        self._library.supple_body_set_force(self._handle, vertex, _arguments.address(force))

    def set_forces(self, vertices: ArrayLike, forces: ArrayLike) -> None:
        """Forces [count, 3] in N on vertices [count] of the mesh, in place of all that were set before; [] and []:
        none. A vertex may occur several times."""
        vertices = _arguments.integer_list('vertices', vertices)
        forces = _arguments.reals('forces', forces, len(vertices), 3)
        self._library.supple_body_set_forces(self._handle, len(vertices), _arguments.address(vertices),
                                             _arguments.address(forces))

    def set_generalized_force(self, force: Optional[ArrayLike]) -> None:
        """The generalized force Uᵀ F [r] beside the forces on vertices, in place of the one that was set before.
        None: none."""
        force = None if force is None else _arguments.reals('force', force, self.r)
        self._library.supple_body_set_generalized_force(self._handle, _arguments.address(force))

    def set_springs(self, vertices: ArrayLike, anchors: ArrayLike, stiffness: ArrayLike) -> None:
        """Linear springs from vertices [count] to fixed points [count, 3] in m, with stiffness in N/m, one for each or
        one for all, in place of all that were set before; [], [] and []: none. Not for mode superposition, whose modes
        they would couple."""
        vertices = _arguments.integer_list('vertices', vertices)
        springs = np.zeros(len(vertices), _library.SPRING)
        springs['vertex'] = vertices
        springs['anchor'] = _arguments.reals('anchors', anchors, len(vertices), 3)
        shape = () if np.ndim(stiffness) == 0 else (len(vertices),)
        springs['stiffness'] = _arguments.reals('stiffness', stiffness, *shape)
        self._library.supple_body_set_springs(self._handle, len(springs), _arguments.address(springs))

    def set_gravity(self, gravity: ArrayLike) -> None:
        """The acceleration of gravity [3] in m/s². Refused for a body that nothing fixes and whose basis cannot
        fall."""
        gravity = _arguments.reals('gravity', gravity, 3)
        self._library.supple_body_set_gravity(self._handle, _arguments.address(gravity))

    def load_file(self, path: Optional[Path]) -> None:
        """The loads over time of a CSV file (formats/loads.md), beside those that are set; None: none. To be called
        before start, from whose time 0 the times in the file count."""
        encoded = None if path is None else _arguments.path('path', path)
        self._library.supple_body_load_file(self._handle, encoded)

    def set_material(self, region: Optional[str] = None, *, young: Optional[float] = None,
                     poisson: Optional[float] = None, density: Optional[float] = None) -> None:
        """Another Young's modulus in Pa, Poisson's ratio or density in kg/m³ of a region (None: of all); None leaves
        that property as it is. Polynomials must have been made with polycoef --by-region or --by-constant where that is
        needed. A motion that has started goes on from its coordinates and rates at the time that it has reached."""
        values = []
        for name, value, low, keep in (('young', young, 0, -1), ('poisson', poisson, -1, -2),
                                       ('density', density, 0, -1)):
            number = keep if value is None else _arguments.real(name, value)
            if value is not None and number < low:
                raise ValueError(f'{name}: {number:g} is less than {low}')
            values.append(number)
        if young is None and poisson is None and density is None:
            raise TypeError('young, poisson, density: give at least one of them')
        encoded = None if region is None else _arguments.text('region', region)
        self._library.supple_body_set_material(self._handle, encoded, *values)

    # ---- the state ----

    @property
    def time(self) -> float:
        """The time in s; 0 before start."""
        return self._library.supple_body_time(self._handle)

    @property
    def q(self) -> NDArray[np.float64]:
        """The coordinates [r]. Memory of the library, read-only: one array for the life of the body, whose values
        change with every step. Copy what has to stay."""
        return self._state('supple_body_q')

    @property
    def qdot(self) -> NDArray[np.float64]:
        """The rates [r] of the coordinates, as q."""
        return self._state('supple_body_qdot')

    def _state(self, function: str) -> np.ndarray:
        """The library has the array at the same address until the body is freed, but none before a start."""
        address = getattr(self._library, function)(self._handle)
        if not address:
            raise _library.Error(_library.Status.USAGE, 'the body has no motion: call start first')
        array = self.__dict__.get(function)
        if array is None:
            array = self.__dict__[function] = _arguments.view(self._handle, address, (self.r,))
        return array

    def displacements(self, vertices: Optional[ArrayLike] = None, out: Optional[np.ndarray] = None,
                      dtype: Optional[DTypeLike] = None) -> np.ndarray:
        """Displacements [..., 3] in m of vertices [...] of the mesh (None: of all). A single number gives [3]. They are
        written to `out` if it is given. `dtype` is float64, or float32 for single precision."""
        library = self._library
        functions = {np.float64: library.supple_body_displacements, np.float32: library.supple_body_displacements_float}
        return self._at_vertices(functions, (), self.vertex_count, vertices, out, dtype)

    def velocities(self, vertices: Optional[ArrayLike] = None, out: Optional[np.ndarray] = None) -> np.ndarray:
        """Velocities [..., 3] in m/s of vertices, as displacements."""
        functions = {np.float64: self._library.supple_body_velocities}
        return self._at_vertices(functions, (), self.vertex_count, vertices, out, None)

    def surface_displacements(self, vertices: Optional[ArrayLike] = None,
                              out: Optional[np.ndarray] = None) -> np.ndarray:
        """Displacements [..., 3] in m of vertices [...] of the embedded surface (None: of all), in single precision."""
        functions = {np.float32: self._library.supple_body_surface_displacements}
        return self._at_vertices(functions, (), len(self.surface_rest), vertices, out, None)

    def energies(self) -> Energies:
        """Energies and work since the start. One evaluation of the force."""
        energies = _library.Energies()
        self._library.supple_body_energies(self._handle, energies)
        return Energies(*(getattr(energies, name) for name in Energies._fields))

    def report(self) -> StepReport:
        """What the steps since the start took."""
        report = _library.StepReport()
        self._library.supple_body_report(self._handle, report)
        return StepReport(*(getattr(report, name) for name in StepReport._fields))

    def warnings(self) -> Tuple[str, ...]:
        """What is to be said of the steps so far, in sentences, as simulate does at its end: energy that nothing put in,
        steps that did not converge, semi-implicit steps that are far from the energy balance."""
        return tuple(self._save(self._library.supple_body_warnings).rstrip(b'\0').decode().splitlines())

    def evaluate(self, q: ArrayLike) -> Evaluation:
        """Internal force, stiffness and stored energy at coordinates q [r], without springs, for an integrator of one's
        own. The motion is not affected."""
        r = self.r
        q, force, stiffness = _arguments.reals('q', q, r), np.empty(r), np.empty((r, r), order='F')
        energy = ctypes.c_double()
        self._library.supple_body_evaluate(self._handle, *map(_arguments.address, (q, force, stiffness)), energy)
        return Evaluation(force, stiffness, energy.value)

    def mass(self) -> NDArray[np.float64]:
        """The mass UᵀMU [r, r]."""
        mass = np.empty((self.r, self.r), order='F')
        self._library.supple_body_mass(self._handle, _arguments.address(mass))
        return mass

    # ---- saving ----

    def save(self) -> bytes:
        """The state that the next steps depend on, forces and springs included, for this machine and this version of
        the library."""
        return self._save(self._library.supple_body_save)

    def load(self, state: bytes) -> None:
        """Returns to a saved state of a body that was opened from the same files and started with the same integration,
        with the same materials, gravity and loads of a file. Other bytes are refused, and the body is as it was."""
        self._load(self._library.supple_body_load, state)


def _refuse(scheme: str, schemes: Tuple[str, ...], **given: Any) -> None:
    """Refuses options that have no meaning for the scheme."""
    for name, value in given.items():
        if value is not None and scheme not in schemes:
            raise ValueError(f'{name}: it does not apply to the scheme {scheme!r}, but to {", ".join(schemes)}')
