"""periodic.py: amplitudes of simulated motions, beside those of a curve of simcurve. Needs NumPy.

    periodic.py sweep CURVE.npz BASIS.npz PROBE POINTS.csv DIRECTION FIRST MOTION.npz
        The load of the motion has one frequency for two seconds each, FIRST Hz at first, and then 1 Hz more or less (DIRECTION up or
        down). The amplitude in the last ten periods of each is compared with the branch of the curve where the sweep must be.
        Prints the number of frequencies, that of frequencies between the folds, and the largest relative difference.
    periodic.py period BASIS.npz PROBE MOTION.npz FRAMES
        Prints the amplitude in the last ten periods of so many frames, and how far the coordinates at the end are from those one period and
        two periods before, relative to the largest range of a coordinate.

PROBE is VERTEX:AXIS."""
import sys

import numpy as np


def series(path, name):
    with np.load(path) as file:
        return np.concatenate([file[n] for n in file.files if n.startswith(name + '/')])


def row(basis, probe):
    vertex, axis = probe.split(':')
    return np.load(basis)['U'][3 * int(vertex) + 'xyz'.index(axis)]


def top(u):
    """The largest value of samples, by the parabola through the largest one and both neighbours."""
    i = 1 + np.argmax(u[1:-1])
    before, best, after = u[i - 1:i + 2]
    return best + (after - before) ** 2 / (8 * (2 * best - before - after))


def amplitude(u):
    return 0.5 * (top(u) + top(-u))


def branch(curve, up):
    """The points of a hardening response where a sweep up or down is: those before the first fold or behind the last one."""
    folds = np.flatnonzero(curve['event'] == 1)
    assert len(folds) == 2, folds
    part = slice(0, folds[0]) if up else slice(folds[1] + 1, None)
    return curve['frequency'][part], curve['amplitude'][part]


def sweep(curve, basis, probe, points, direction, first, motion):
    up, curve = direction == 'up', np.load(curve)
    folds = np.sort(curve['frequency'][curve['event'] == 1])
    before, behind = branch(curve, True), branch(curve, False)
    time, q = series(motion, 'time'), series(motion, 'q')
    u = q @ row(basis, probe)[:q.shape[1]]
    worst, inside = 0, 0
    count = round(time[-1] / 2)
    with open(points, 'w') as table:
        table.write('frequency_Hz,amplitude_m\n')
        for i in range(count):
            f = float(first) + i * (1 if up else -1)
            a = amplitude(u[(time > 2 * i + 2 - 10 / f) & (time <= 2 * i + 2)])
            table.write('%.17g,%.17g\n' % (f, a))
            x, y = before if f < folds[1 if up else 0] else behind
            order = np.argsort(x)
            worst = max(worst, abs(a / np.interp(f, x[order], y[order]) - 1))
            inside += folds[0] < f < folds[1]
    print(count, inside, '%.3g' % worst)


def period(basis, probe, motion, frames):
    q, n = series(motion, 'q'), int(frames)
    late = q[-10 * n - 1:]
    size = np.ptp(late, axis=0).max()
    back = [abs(q[-1] - q[-1 - k * n]).max() / size for k in (1, 2)]
    print('%.9g %.3g %.3g' % (amplitude(late @ row(basis, probe)[:q.shape[1]]), *back))


{'sweep': sweep, 'period': period}[sys.argv[1]](*sys.argv[2:])
