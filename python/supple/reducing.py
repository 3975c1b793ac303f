"""The program simreduce from Python: a reduced-order model with a stated error."""
from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from typing import Iterable, Optional, Sequence, Union

from ._library import Error, Status

Path = Union[str, 'os.PathLike[str]']
_STATEMENT = re.compile(r'^r = (\d+), .*: error of .* at most ([-+.0-9e]+|inf) %$', re.MULTILINE)


@dataclass(frozen=True)
class Reduced:
    """What simreduce has written, and its statement."""
    basis: str
    """The name of the file of the basis."""
    forces: str
    """The name of the file of the polynomials or of the cubature."""
    report: str
    """The name of the table of errors over the number of coordinates, CSV."""
    script: str
    """The name of the shell script that makes these files."""
    scene: Optional[str]
    """The name of the scene of a free body; None: the body has fixed vertices."""
    r: int
    """The number of coordinates."""
    error: float
    """The stated error, a part of 1."""
    statement: str
    """All lines that the program printed."""
    kept: bool
    """Whether the wanted error is kept; with best=True a model is written where it is not."""


def reduce(mesh: Path, loads: Iterable[Path] = (), *, step: Union[float, str], steps: Optional[int] = None,
           duration: Optional[float] = None, output: Path, error: float = 0.01, quantity: str = 'position',
           probe: Optional[str] = None, gravity: Optional[Sequence[float]] = None, frame: Optional[Path] = None,
           touch: Optional[str] = None, force: Optional[float] = None, best: bool = False,
           budget: Optional[float] = None, options: Sequence[str] = (), program: Path = 'simreduce') -> Reduced:
    """The smallest reduced-order model of a mesh that keeps an error under loads (files of loads).

    step and duration are in s, and step may be 'auto'; a number of steps may stand in place of the duration. gravity is
    in m/s2; frame is the file of a path that the body moves along; force, the largest of a touch, is in N; budget is in
    microseconds a step, in place of an error. `options` are others of the program simreduce(1), which is looked for on
    the PATH; the names of what it writes begin with `output`. Error has the program's message and exit code, and
    NUMERICAL where no model keeps the error."""
    words = [os.fspath(program), os.fspath(mesh), '--dt', step if isinstance(step, str) else repr(float(step)), '-o',
             os.fspath(output)]
    for option, value in (('steps', steps), ('duration', duration), ('frame', frame and os.fspath(frame)), ('touch', touch),
                          ('force', force), ('probe', probe)):
        words += [] if value is None else [f'--{option}', str(value)]
    for path in loads:
        words += ['--loads', os.fspath(path)]
    if gravity is not None:
        words += ['--gravity', ','.join(repr(float(g)) for g in gravity)]
    words += ['--budget', repr(float(budget))] if budget is not None else ['--error', repr(float(error))]
    words += ['--quantity', quantity] + (['--best'] if best else []) + list(options) + ['-q']

    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as failure:
        raise Error(Status.SYSTEM, f'{words[0]}: {failure.strerror}') from failure

    found = _STATEMENT.search(done.stdout)
    if done.returncode not in (0, 1) or not found:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line] or [f'exit code {done.returncode}']
        raise Error(done.returncode if done.returncode in set(Status) else Status.NUMERICAL, said[-1])

    # The second line of the script: "# The commands that make BASIS and FORCES."
    name = os.fspath(output)
    with open(f'{name}.sh', encoding='utf-8') as script:
        text = script.read(4096)
    forces = f'{name}-poly.npz' if f' and {name}-poly.npz.' in text else f'{name}-cubature.npz'
    scene = f'{name}-scene.json' if f'# {name}-scene.json is a scene' in text else None
    return Reduced(f'{name}-basis.npz', forces, f'{name}-report.csv', f'{name}.sh', scene, int(found[1]),
                   float(found[2]) / 100, done.stdout, done.returncode == 0)
