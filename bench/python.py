"""Steps from Python against a loop in C over the same body: python.py FOLDER R, with FOLDER/{mesh,basis,poly}.npz.

The loops take turns; each number is the minimum of the rounds, so that other work on the machine counts little."""
import ctypes
import os
import sys
import time

import numpy as np

import supple

ROUNDS, COUNT = 200, 100
folder, r = sys.argv[1], int(sys.argv[2])
loops = ctypes.CDLL(os.environ['BENCH_LOOPS'])
loops.bench_steps.restype = loops.bench_cycles.restype = ctypes.c_double
body = supple.Body(*(f'{folder}/{name}.npz' for name in ('mesh', 'basis', 'poly')), r=r)
tip, force, u = int(np.argmax(body.rest[:, 0])), np.array([0, 0, 1e-3]), np.empty(3)
pointers = [ctypes.c_void_p(array.ctypes.data) for array in (force, u)]


def single():
    for _ in range(COUNT):
        body.step()


def cycles():
    for _ in range(COUNT):
        body.set_force(tip, force)
        body.step()
        body.displacements(tip, u)


def python(loop):
    start = time.perf_counter()
    loop()
    return time.perf_counter() - start


rows = {'step()': (lambda: loops.bench_steps(body._handle, COUNT), lambda: python(single)),
        f'step({COUNT})': (lambda: loops.bench_steps(body._handle, COUNT), lambda: python(lambda: body.step(COUNT))),
        'set_force, step, displacements': (
            lambda: loops.bench_cycles(body._handle, COUNT, ctypes.c_int64(tip), *pointers), lambda: python(cycles))}
for semi_implicit in (True, False):
    for name, (c, p) in rows.items():
        body.start(0.001, semi_implicit=semi_implicit)
        body.set_force(tip, force)
        times = np.array([(c(), p()) for _ in range(ROUNDS)]).min(0) / COUNT * 1e6
        print(f'r = {r}, {"semi-implicit" if semi_implicit else "converged":13s} {name:32s}'
              f'C {times[0]:7.2f} us   Python {times[1]:7.2f} us   difference {times[1] - times[0]:5.2f} us')
