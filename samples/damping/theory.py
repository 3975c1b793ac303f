"""Amplitude and period of a mode over the time step, measured and in closed form: theory.py SCHEME-STEPS.csv ...

The deflection q − q_s from equilibrium obeys x_(n+1) = t x_n − d x_(n−1) in every scheme with two states, with the trace t
and the determinant d of the matrix of a step. A step multiplies the amplitude by √d and turns the phase by
φ = arccos(t/(2√d)). Measured, t and d are those of least squares. Newmark, Ω = ωh (Hughes 1987, section 9.1):

    t = 2 − (γ + ½) Ω²/(1 + βΩ²),   d = 1 − (γ − ½) Ω²/(1 + βΩ²).

Implicit Euler: both roots are 1/(1 ± iΩ), so that t = 2/(1 + Ω²) and d = 1/(1 + Ω²).
"""
import csv
import math
import os
import sys


def closed(scheme, w):
    if scheme == "euler":
        return 2 / (1 + w * w), 1 / (1 + w * w)
    gamma = int(scheme[len("newmark"):]) / 100
    share = w * w / (1 + (gamma + 0.5) ** 2 / 4 * w * w)
    return 2 - (gamma + 0.5) * share, 1 - (gamma - 0.5) * share


def measured(path):
    with open(path) as file:
        q = [float(row["q0"]) for row in csv.DictReader(file)]
    # differences leave the equilibrium out; they decay, and those near rounding are of no use
    x = [b - a for a, b in zip(q[1:], q[2:])]
    largest = max(map(abs, x))
    rows = [(b, -a, c) for a, b, c in zip(x, x[1:], x[2:]) if abs(a) + abs(b) > 1e-6 * largest]
    aa, ab, bb = (sum(r[i] * r[k] for r in rows) for i, k in ((0, 0), (0, 1), (1, 1)))
    ac, bc = (sum(r[i] * r[2] for r in rows) for i in (0, 1))
    det = aa * bb - ab * ab
    return (ac * bb - bc * ab) / det, (aa * bc - ab * ac) / det


def judge(trace, det, w):
    """The part of the amplitude that is left after a period, and the period relative to the exact one."""
    phase = math.acos(max(-1, min(1, trace / (2 * math.sqrt(det)))))
    return math.sqrt(det) ** (2 * math.pi / phase), w / phase


print("scheme,steps,amplitude,period,amplitude_theory,period_theory")
worst = 0
for path in sys.argv[1:]:
    scheme, steps = os.path.basename(path)[:-4].split("-")
    w = 2 * math.pi / int(steps)
    now, theory = judge(*measured(path), w), judge(*closed(scheme, w), w)
    worst = max(worst, *(abs(a / b - 1) for a, b in zip(now, theory)))
    print(scheme, steps, *("%.9g" % v for v in now + theory), sep=",")
print("measured and closed form differ by %.1e at most" % worst, file=sys.stderr)
if worst > 1e-6:
    sys.exit("too much")
